import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';

/** What a private environment is made with and told to. */
export interface Maker {
  /** Runs a program and gives its output; rejects with the end of what it wrote. */
  run(command: string, args: readonly string[]): Promise<string>;
  /** The person sees this while they wait. */
  report(step: 'waiting' | 'creating' | 'installing'): void;
  log(line: string): void;
}

/** No environment could be made; `reasons` are sentences, one for each way that was tried. */
export class EnvironmentFailed extends Error {
  constructor(readonly reasons: readonly string[]) {
    super(reasons.join(' '));
  }
}

const WINDOWS = process.platform === 'win32';
const OLDEST = [3, 11] as const;
const ABANDONED = 10 * 60 * 1000;
/** Milliseconds after which another window's lock is taken to be left over. */

/** The server's program in a private environment for this wheel, made on first use and kept until the wheel changes. */
export async function ensureEnvironment(wheel: string, storage: string, maker: Maker): Promise<string> {
  const key = createHash('sha256').update(await readFile(wheel)).digest('hex').slice(0, 12);
  const folder = join(storage, `server-${key}`);
  const program = executableIn(folder, 'acp-editor');
  const complete = join(folder, '.complete');
  if (existsSync(complete)) return program;
  await mkdir(storage, { recursive: true });
  await withLock(`${folder}.lock`, maker, async () => {
    if (existsSync(complete)) return;
    await build(folder, wheel, maker);
    await writeFile(complete, '');
    await removeOthers(storage, `server-${key}`);
  });
  return program;
}

async function build(folder: string, wheel: string, maker: Maker): Promise<void> {
  const reasons: string[] = [];
  const attempt = async (name: string, make: () => Promise<void>): Promise<boolean> => {
    await rm(folder, { recursive: true, force: true });
    try {
      await make();
      return true;
    } catch (error) {
      reasons.push(`${name}: ${messageOf(error)}`);
      maker.log(`${name}: ${messageOf(error)}`);
      return false;
    }
  };
  const pins = join(dirname(wheel), 'constraints.txt');
  /** With the versions that were tested; where this Python has no packages of them, with what it has. */
  const install = async (command: string, args: readonly string[]): Promise<void> => {
    if (existsSync(pins)) {
      try {
        await maker.run(command, [...args, '--constraint', pins, wheel]);
        return;
      } catch (error) {
        maker.log(`the tested versions cannot be installed, trying others: ${messageOf(error)}`);
      }
    }
    await maker.run(command, [...args, wheel]);
  };
  const python = executableIn(folder, 'python');
  const uv = findOnPath('uv');
  if (uv) {
    const made = await attempt('uv', async () => {
      maker.report('creating');
      await maker.run(uv, ['venv', '--quiet', '--python', '>=3.11', folder]);
      maker.report('installing');
      await install(uv, ['pip', 'install', '--quiet', '--python', python]);
    });
    if (made) return;
  }
  const base = await findPython(maker);
  if (base) {
    const made = await attempt(base.join(' '), async () => {
      const [command, ...args] = base;
      maker.report('creating');
      await maker.run(command, [...args, '-m', 'venv', folder]);
      maker.report('installing');
      await install(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']);
    });
    if (made) return;
  } else {
    reasons.push(uv ? 'No Python 3.11 or newer was found.' : 'Neither uv nor a Python 3.11 or newer was found.');
  }
  await rm(folder, { recursive: true, force: true });
  throw new EnvironmentFailed(reasons);
}

type Command = readonly [string, ...string[]];

async function findPython(maker: Maker): Promise<Command | undefined> {
  const candidates: Command[] = WINDOWS ? [['py', '-3']] : [];
  for (const name of ['python3', 'python', 'python3.14', 'python3.13', 'python3.12', 'python3.11']) {
    candidates.push([name]);
  }
  for (const [name, ...args] of candidates) {
    const command = findOnPath(name);
    if (!command) continue;
    try {
      const version = await maker.run(command, [...args, '-c', 'import sys, venv; print(*sys.version_info[:2])']);
      if (isNewEnough(version)) return [command, ...args];
      maker.log(`${command} is Python ${version.trim().replace(' ', '.')}, which is too old`);
    } catch (error) {
      maker.log(`${command}: ${messageOf(error)}`);
    }
  }
  return undefined;
}

/** Whether "3 12" is a version that the server runs on. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.trim().split(/\s+/).map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

export function executableIn(environment: string, name: string): string {
  return WINDOWS ? join(environment, 'Scripts', `${name}.exe`) : join(environment, 'bin', name);
}

export function findOnPath(name: string, path = process.env['PATH'] ?? ''): string | undefined {
  const suffixes = WINDOWS ? ['.exe', '.cmd', '.bat'] : [''];
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const found = suffixes.map((suffix) => join(folder, name + suffix)).find((file) => existsSync(file));
    if (found) return found;
  }
  return undefined;
}

/** Runs a program without a shell; what it wrote last is in the error. */
export function runProgram(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, [...args], { timeout: ABANDONED, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (!error) resolve(stdout);
      else reject(new Error(tail(stderr || stdout, 600) || error.message));
    });
  });
}

async function withLock(lock: string, maker: Maker, run: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await mkdir(lock);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (await isAbandoned(lock)) {
      await rm(lock, { recursive: true, force: true });
      continue;
    }
    maker.report('waiting');
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  try {
    await writeFile(join(lock, 'pid'), String(process.pid));
    await run();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

async function isAbandoned(lock: string): Promise<boolean> {
  try {
    if (Date.now() - (await stat(lock)).mtimeMs > ABANDONED) return true;
    const pid = Number(await readFile(join(lock, 'pid'), 'utf8'));
    return pid > 0 && !isAlive(pid);
  } catch {
    return false; // just made, or just gone: look again
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function removeOthers(storage: string, kept: string): Promise<void> {
  for (const name of await readdir(storage)) {
    if (/^server-[0-9a-f]{12}$/.test(name) && name !== kept) {
      await rm(join(storage, name), { recursive: true, force: true }).catch(() => undefined);
    }
  }
}

export function tail(text: string, length: number): string {
  const trimmed = text.trim();
  return trimmed.length > length ? `…${trimmed.slice(-length)}` : trimmed;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
