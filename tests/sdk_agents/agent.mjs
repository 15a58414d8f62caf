/**
 * An agent of both protocol versions made with the official TypeScript SDK, which checks what comes in.
 *
 * A prompt is one word: "edit" asks for permission, "ask" asks for a form, "files" reads, writes and runs
 * through the editor (version 1), "fail" fails, anything else waits to be cancelled.
 */
import { Readable, Writable } from 'node:stream';

const sdk = new URL('../../client-vscode/node_modules/@agentclientprotocol/sdk/dist/', import.meta.url);
const v1 = await import(new URL('v1/stable/acp.js', sdk).href);
const v2 = await import(new URL('v2/stable/acp.js', sdk).href);

const INFO = { name: 'typescript', title: 'TypeScript agent', version: '1' };
const OPTIONS = [
  { optionId: 'y', name: 'Yes', kind: 'allow_once' },
  { optionId: 'n', name: 'No', kind: 'reject_once' },
];
const FORM = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name' },
    often: { type: 'integer', minimum: 1, default: 2 },
  },
  required: ['name'],
};
const COMMANDS = [{ name: 'plan', description: 'Makes a plan' }];

const sessions = new Map();
let opened = 0;

function open(cwd) {
  const sessionId = `s${++opened}`;
  sessions.set(sessionId, { cwd, fast: false, model: 'small', words: [], cancel: new AbortController() });
  return sessionId;
}

function find(version, sessionId) {
  const session = sessions.get(sessionId);
  if (!session) throw version.RequestError.invalidParams({ sessionId });
  return session;
}

function options(session, id) {
  const values = [
    { value: 'small', name: 'Small' },
    { value: 'large', name: 'Large' },
  ];
  return [
    { [id]: 'model', name: 'Model', category: 'model', type: 'select', currentValue: session.model, options: values },
    { [id]: 'fast', name: 'Fast', type: 'boolean', currentValue: session.fast },
  ];
}

function setOption(version, params) {
  const session = find(version, params.sessionId);
  if (params.configId === 'fast' && typeof params.value === 'boolean') session.fast = params.value;
  else if (params.configId === 'model' && ['small', 'large'].includes(params.value)) session.model = params.value;
  else throw version.RequestError.invalidParams({ configId: params.configId });
  return session;
}

function list(params) {
  const rows = [...sessions].map(([sessionId, { cwd }]) => ({ sessionId, cwd, title: `Session ${sessionId}` }));
  const found = rows.filter((row) => params.cwd == null || row.cwd === params.cwd);
  // A page at a time, so that paging is shown.
  const start = params.cursor ? Number(params.cursor) : 0;
  const next = start + 1 < found.length ? { nextCursor: String(start + 1) } : {};
  return { sessions: found.slice(start, start + 1), ...next };
}

function cancelled(session) {
  const { signal } = session.cancel;
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', resolve, { once: true });
  });
}

/** What a prompt does, in the words of either version; returns the stop reason. */
async function play(word, session, wire) {
  session.cancel = new AbortController();
  session.words.push(word);
  switch (word) {
    case 'edit': {
      await wire.begin({ toolCallId: 'c/1', title: 'Edit', kind: 'edit', status: 'pending' });
      const { outcome } = await wire.permission('c/1', 'Edit a.py');
      if (outcome.outcome === 'cancelled') return 'cancelled';
      await wire.change({ toolCallId: 'c/1', status: outcome.optionId === 'y' ? 'completed' : 'failed' });
      return 'end_turn';
    }
    case 'ask': {
      const answer = await wire.elicit({ mode: 'form', message: 'Who?', requestedSchema: FORM });
      await wire.say(`${answer.action} ${JSON.stringify(answer.content ?? null)}`);
      return 'end_turn';
    }
    case 'files':
      return await wire.files();
    case 'fail':
      throw new Error('it broke');
    default:
      await wire.say('waiting');
      await cancelled(session);
      return 'cancelled';
  }
}

// -- version 1 -------------------------------------------------------------------------------------

function wire1(client, sessionId) {
  const update = (update) => client.notify(v1.methods.client.session.update, { sessionId, update });
  return {
    begin: (call) => update({ sessionUpdate: 'tool_call', ...call }),
    change: (call) => update({ sessionUpdate: 'tool_call_update', ...call }),
    say: (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }),
    permission: (toolCallId, title) =>
      client.request(v1.methods.client.session.requestPermission, {
        sessionId,
        toolCall: { toolCallId, title },
        options: OPTIONS,
      }),
    elicit: (question) => client.request(v1.methods.client.elicitation.create, { sessionId, ...question }),
    async files() {
      const { fs, terminal } = v1.methods.client;
      const { content } = await client.request(fs.readTextFile, { sessionId, path: '/ws/a.py', line: 2, limit: 1 });
      await client.request(fs.writeTextFile, { sessionId, path: '/ws/b.py', content });
      const { terminalId } = await client.request(terminal.create, {
        sessionId,
        command: 'make',
        args: ['test'],
        env: [{ name: 'A', value: 'b' }],
        cwd: '/ws',
        outputByteLimit: 1000,
      });
      const ended = await client.request(terminal.waitForExit, { sessionId, terminalId });
      const { output } = await client.request(terminal.output, { sessionId, terminalId });
      await client.request(terminal.kill, { sessionId, terminalId });
      await client.request(terminal.release, { sessionId, terminalId });
      await this.say(`${content} ${output} ${ended.signal}`);
      return 'end_turn';
    },
  };
}

async function replay1({ params, client }) {
  const session = find(v1, params.sessionId);
  for (const word of session.words) {
    const update = { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: word } };
    await client.notify(v1.methods.client.session.update, { sessionId: params.sessionId, update });
  }
  return { configOptions: options(session, 'id') };
}

const agent1 = v1
  .agent({ name: 'typescript' })
  .onRequest(v1.methods.agent.initialize, () => ({
    protocolVersion: v1.PROTOCOL_VERSION,
    agentInfo: INFO,
    agentCapabilities: {
      loadSession: true,
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
    },
  }))
  .onRequest(v1.methods.agent.session.new, async ({ params, client }) => {
    const sessionId = open(params.cwd);
    const update = { sessionUpdate: 'available_commands_update', availableCommands: COMMANDS };
    await client.notify(v1.methods.client.session.update, { sessionId, update });
    return { sessionId, configOptions: options(find(v1, sessionId), 'id') };
  })
  .onRequest(v1.methods.agent.session.load, replay1)
  .onRequest(v1.methods.agent.session.resume, ({ params }) => ({
    configOptions: options(find(v1, params.sessionId), 'id'),
  }))
  .onRequest(v1.methods.agent.session.list, ({ params }) => list(params))
  .onRequest(v1.methods.agent.session.close, () => ({}))
  .onRequest(v1.methods.agent.session.delete, ({ params }) => {
    sessions.delete(params.sessionId);
    return {};
  })
  .onRequest(v1.methods.agent.session.setConfigOption, ({ params }) => ({
    configOptions: options(setOption(v1, params), 'id'),
  }))
  .onRequest(v1.methods.agent.session.prompt, async ({ params, client }) => {
    const session = find(v1, params.sessionId);
    return { stopReason: await play(params.prompt[0].text, session, wire1(client, params.sessionId)) };
  })
  .onNotification(v1.methods.agent.session.cancel, ({ params }) => find(v1, params.sessionId).cancel.abort());

// -- version 2 -------------------------------------------------------------------------------------

function wire2(client, sessionId) {
  const update = (update) => client.notify(v2.methods.client.session.update, { sessionId, update });
  const change = (call) => update({ sessionUpdate: 'tool_call_update', ...call });
  return {
    update,
    begin: change,
    change,
    say: (text) =>
      update({ sessionUpdate: 'agent_message', messageId: crypto.randomUUID(), content: [{ type: 'text', text }] }),
    async permission(toolCallId, title) {
      await update({ sessionUpdate: 'state_update', state: 'requires_action' });
      const subject = { type: 'tool_call', toolCall: { toolCallId, title } };
      const asked = { sessionId, title, subject, options: OPTIONS };
      const answer = await client.request(v2.methods.client.session.requestPermission, asked);
      await update({ sessionUpdate: 'state_update', state: 'running' });
      return answer;
    },
    elicit: (question) => client.request(v2.methods.client.elicitation.create, { sessionId, ...question }),
    async files() {
      const snapshot = { data: Buffer.from('out').toString('base64') };
      await update({ sessionUpdate: 'terminal_update', terminalId: 't1', command: 'make', output: snapshot });
      await update({ sessionUpdate: 'terminal_update', terminalId: 't1', exitStatus: { exitCode: 3 } });
      return 'end_turn';
    },
  };
}

async function turn2(word, session, wire, messageId) {
  const content = [{ type: 'text', text: word }];
  await wire.update({ sessionUpdate: 'user_message', messageId, content });
  await wire.update({ sessionUpdate: 'state_update', state: 'running' });
  let end;
  try {
    end = { stopReason: await play(word, session, wire) };
  } catch (error) {
    end = { stopReason: 'error', error: { code: -32603, message: error.message } };
  }
  await wire.update({ sessionUpdate: 'state_update', state: 'idle', ...end });
}

const agent2 = v2
  .agent({ name: 'typescript' })
  .onRequest(v2.methods.agent.initialize, () => ({
    protocolVersion: v2.PROTOCOL_VERSION,
    info: INFO,
    capabilities: { session: { delete: {} } },
  }))
  .onRequest(v2.methods.agent.session.new, ({ params }) => {
    const sessionId = open(params.cwd);
    return { sessionId, configOptions: options(find(v2, sessionId), 'configId'), availableCommands: COMMANDS };
  })
  .onRequest(v2.methods.agent.session.list, ({ params }) => list(params))
  .onRequest(v2.methods.agent.session.resume, async ({ params, client }) => {
    const session = find(v2, params.sessionId);
    const wire = wire2(client, params.sessionId);
    for (const [index, word] of params.replayFrom ? session.words.entries() : []) {
      const content = [{ type: 'text', text: word }];
      await wire.update({ sessionUpdate: 'user_message', messageId: `old${index}`, content });
    }
    await wire.update({ sessionUpdate: 'state_update', state: 'idle' });
    return { configOptions: options(session, 'configId') };
  })
  .onRequest(v2.methods.agent.session.close, () => ({}))
  .onRequest(v2.methods.agent.session.delete, ({ params }) => {
    sessions.delete(params.sessionId);
    return {};
  })
  .onRequest(v2.methods.agent.session.setConfigOption, ({ params }) => ({
    configOptions: options(setOption(v2, params), 'configId'),
  }))
  .onRequest(v2.methods.agent.session.prompt, ({ params, client }) => {
    const session = find(v2, params.sessionId);
    const messageId = crypto.randomUUID();
    // The answer goes out when this returns, and the turn comes after it.
    setTimeout(() => turn2(params.prompt[0].text, session, wire2(client, params.sessionId), messageId), 0);
    return { messageId };
  })
  .onNotification(v2.methods.agent.session.cancel, ({ params }) => find(v2, params.sessionId).cancel.abort());

const stream = v1.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
v2.agentProtocolRouter().withV1(agent1).withV2(agent2).connect(stream);
