import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pictureOf } from '../src/clipboard';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

/** Runs with programs of these names, and no others, that print these bytes. */
async function having(programs: Record<string, Buffer | number>, check: () => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'clipboard-'));
  const path = process.env['PATH'];
  try {
    for (const [name, printed] of Object.entries(programs)) {
      const script = typeof printed === 'number' ? `process.exit(${printed})` : `process.stdout.write(Buffer.from('${printed.toString('hex')}', 'hex'))`;
      writeFileSync(join(folder, name), `#!${process.execPath}\n${script}\n`);
      chmodSync(join(folder, name), 0o755);
    }
    process.env['PATH'] = folder;
    await check();
  } finally {
    process.env['PATH'] = path;
    rmSync(folder, { recursive: true });
  }
}

test('each system has a program that prints the picture', async () => {
  const expected = PNG.toString('base64');
  const applescript = Buffer.from(`«data PNGf${PNG.toString('hex').toUpperCase()}»\n`);
  await having({ 'wl-paste': PNG }, async () => assert.equal(await pictureOf('linux'), expected));
  await having({ 'wl-paste': 1, xclip: PNG }, async () => assert.equal(await pictureOf('linux'), expected));
  await having({ osascript: applescript }, async () => assert.equal(await pictureOf('darwin'), expected));
  await having({ powershell: Buffer.from(`${expected}\r\n`) }, async () => assert.equal(await pictureOf('win32'), expected));
});

test('no program, no picture, or something else is nothing', async () => {
  await having({}, async () => assert.equal(await pictureOf('linux'), undefined));
  await having({ 'wl-paste': 1, xclip: Buffer.from('text') }, async () => assert.equal(await pictureOf('linux'), undefined));
  await having({ powershell: Buffer.from('') }, async () => assert.equal(await pictureOf('win32'), undefined));
});
