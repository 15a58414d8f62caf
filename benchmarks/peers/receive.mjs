/**
 * The official TypeScript SDK's bare client: starts an agent, prompts it, and counts what comes.
 *
 * Usage: receive.mjs SDK PROMPT COMMAND ...; prints one JSON object.
 */
import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const [sdk, text, command, ...args] = process.argv.slice(2);
const acp = await import(pathToFileURL(`${sdk}/dist/v1/stable/acp.js`).href);
const agent = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));

let updates = 0;
const app = acp.client().onNotification(acp.methods.client.session.update, () => void ++updates);
const result = await app.connectWith(stream, async (to) => {
  const methods = acp.methods.agent;
  await to.request(methods.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
  const { sessionId } = await to.request(methods.session.new, { cwd: process.cwd(), mcpServers: [] });
  const [start, before] = [performance.now(), process.cpuUsage()];
  await to.request(methods.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(before);
  return { seconds, cpu: (user + system) / 1e6, updates };
});
console.log(JSON.stringify(result));
agent.stdin.end();
process.exit(0);
