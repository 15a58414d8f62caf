import { execFile } from 'node:child_process';

/** A program that prints the clipboard's picture as PNG, and in what form. */
interface Reader {
  readonly command: string;
  readonly args: readonly string[];
  readonly prints: 'bytes' | 'base64' | 'applescript';
}

const LIMIT = 32 * 1024 * 1024;
/** Bytes that are taken at most. */
const PATIENCE = 10_000;
/** Milliseconds that such a program may take. */

const WINDOWS =
  'Add-Type -AssemblyName System.Windows.Forms; $image = [Windows.Forms.Clipboard]::GetImage(); ' +
  "if ($image) { $memory = New-Object IO.MemoryStream; $image.Save($memory, 'Png'); [Convert]::ToBase64String($memory.ToArray()) }";

/** The programs to be tried: VS Code itself gives extensions the clipboard's text alone. */
export function readers(platform: NodeJS.Platform): readonly Reader[] {
  switch (platform) {
    case 'darwin':
      return [{ command: 'osascript', args: ['-e', 'the clipboard as «class PNGf»'], prints: 'applescript' }];
    case 'win32':
      return [{ command: 'powershell', args: ['-NoProfile', '-STA', '-Command', WINDOWS], prints: 'base64' }];
    default:
      return [
        { command: 'wl-paste', args: ['--type', 'image/png'], prints: 'bytes' },
        { command: 'xclip', args: ['-selection', 'clipboard', '-t', 'image/png', '-o'], prints: 'bytes' },
      ];
  }
}

/** The clipboard's picture as base64 of a PNG; undefined where it has none, or nobody can read it. */
export async function pictureOf(platform: NodeJS.Platform): Promise<string | undefined> {
  for (const { command, args, prints } of readers(platform)) {
    const printed = await run(command, args);
    const data = printed && decoded(printed, prints);
    if (data?.subarray(0, 4).equals(PNG)) return data.toString('base64');
  }
  return undefined;
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

function decoded(printed: Buffer, prints: Reader['prints']): Buffer {
  switch (prints) {
    case 'bytes':
      return printed;
    case 'base64':
      return Buffer.from(printed.toString('latin1').trim(), 'base64');
    case 'applescript':
      return Buffer.from(/«data PNGf([0-9A-Fa-f]*)»/.exec(printed.toString('utf8'))?.[1] ?? '', 'hex');
  }
}

function run(command: string, args: readonly string[]): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const options = { encoding: 'buffer', maxBuffer: LIMIT, timeout: PATIENCE, windowsHide: true } as const;
    execFile(command, [...args], options, (error, stdout) => resolve(error ? undefined : stdout));
  });
}
