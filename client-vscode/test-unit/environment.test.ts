import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  EnvironmentFailed,
  type Maker,
  ensureEnvironment,
  executableIn,
  findOnPath,
  isNewEnough,
  runProgram,
  tail,
} from '../src/environment';

async function folder(context: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'acp-editor-'));
  context.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Makes environments without a network: what it is told to run is written down. */
class Recorder implements Maker {
  readonly ran: string[] = [];
  constructor(private readonly answer: (line: string) => string | Error = () => '3 12\n') {}

  async run(command: string, args: readonly string[]): Promise<string> {
    const line = [command, ...args].join(' ');
    this.ran.push(line);
    const answer = this.answer(line);
    if (answer instanceof Error) throw answer;
    const made = args.at(-1);
    if (args.includes('venv') && made) await mkdir(dirname(executableIn(made, 'python')), { recursive: true });
    return answer;
  }

  report(): void {
    // nobody looks
  }

  log(): void {
    // nobody reads
  }
}

async function wheelIn(storage: string, content: string): Promise<string> {
  const wheel = join(storage, 'acp_editor-0.1.0-py3-none-any.whl');
  await writeFile(wheel, content);
  return wheel;
}

test('an environment is made once for a wheel, and a newer wheel replaces it', async (context) => {
  const storage = await folder(context);
  const maker = new Recorder();
  const program = await ensureEnvironment(await wheelIn(storage, 'one'), storage, maker);
  const ran = maker.ran.length;
  assert.ok(ran > 0);
  assert.equal(await ensureEnvironment(await wheelIn(storage, 'one'), storage, maker), program);
  assert.equal(maker.ran.length, ran);
  const newer = await ensureEnvironment(await wheelIn(storage, 'two'), storage, maker);
  assert.notEqual(newer, program);
  const kept = (await readdir(storage)).filter((name) => name.startsWith('server-'));
  assert.equal(kept.length, 1);
});

test('two windows make it once', async (context) => {
  const storage = await folder(context);
  const wheel = await wheelIn(storage, 'one');
  const maker = new Recorder();
  const [one, two] = await Promise.all([
    ensureEnvironment(wheel, storage, maker),
    ensureEnvironment(wheel, storage, maker),
  ]);
  assert.equal(one, two);
  assert.equal(maker.ran.filter((line) => line.includes(' venv ')).length, 1);
});

test("a dead window's lock holds nobody up", async (context) => {
  const storage = await folder(context);
  const wheel = await wheelIn(storage, 'one');
  const first = await ensureEnvironment(wheel, storage, new Recorder());
  const made = dirname(dirname(first));
  await rm(made, { recursive: true });
  await mkdir(`${made}.lock`);
  await writeFile(join(`${made}.lock`, 'pid'), '999999999');
  assert.equal(await ensureEnvironment(wheel, storage, new Recorder()), first);
});

test('the versions that were tested are installed, and others where they cannot be', async (context) => {
  const storage = await folder(context);
  const wheel = await wheelIn(storage, 'one');
  await writeFile(join(storage, 'constraints.txt'), 'anyio==4\n');
  const maker = new Recorder();
  await ensureEnvironment(wheel, storage, maker);
  const installs = maker.ran.filter((line) => line.includes('pip install'));
  assert.equal(installs.length, 1);
  assert.match(installs[0] ?? '', /--constraint \S+constraints\.txt \S+\.whl$/);

  const fresh = await folder(context);
  const other = await wheelIn(fresh, 'one');
  await writeFile(join(fresh, 'constraints.txt'), 'anyio==4\n');
  const poorer = new Recorder((line) => (line.includes('--constraint') ? new Error('no such version') : '3 12\n'));
  await ensureEnvironment(other, fresh, poorer);
  assert.match(poorer.ran.at(-1) ?? '', /pip install (?!.*--constraint).*\.whl$/);
});

test('where nothing works, every way that was tried is told and nothing half-made stays', async (context) => {
  const storage = await folder(context);
  const wheel = await wheelIn(storage, 'one');
  const maker = new Recorder((line) => (line.includes('sys.version_info') ? '3 12' : new Error('no network')));
  await assert.rejects(ensureEnvironment(wheel, storage, maker), (error) => {
    assert.ok(error instanceof EnvironmentFailed);
    assert.match(error.message, /no network/);
    return true;
  });
  assert.deepEqual(
    (await readdir(storage)).filter((name) => name.startsWith('server-')),
    [],
  );
});

test('Python 3.11 is new enough', () => {
  assert.ok(isNewEnough('3 11\n'));
  assert.ok(isNewEnough('4 0'));
  assert.ok(!isNewEnough('3 10'));
  assert.ok(!isNewEnough(''));
});

test('a program that fails says what it wrote last', async () => {
  const program = process.execPath;
  assert.equal(await runProgram(program, ['-e', 'process.stdout.write("fine")']), 'fine');
  await assert.rejects(runProgram(program, ['-e', 'console.error("out of luck"); process.exit(3)']), /out of luck/);
});

test('programs are found on the PATH', async (context) => {
  const path = await folder(context);
  assert.equal(findOnPath('no-such-program-anywhere', path), undefined);
  assert.ok(existsSync(findOnPath('node', `${path}:${dirname(process.execPath)}`) ?? ''));
});

test('the end of a long text is what is shown', () => {
  assert.equal(tail('  short \n', 10), 'short');
  assert.equal(tail('0123456789', 4), '…6789');
});
