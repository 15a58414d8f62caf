import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ExtensionMode, ProgressLocation, l10n, window, workspace } from 'vscode';
import type { ExtensionContext, LogOutputChannel } from 'vscode';
import { EnvironmentFailed, ensureEnvironment, executableIn, findOnPath, messageOf, runProgram } from './environment';

/** How to start the server; `origin` is for the log. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly origin: string;
}

/** There is no server to start; the message says why, for a person. */
export class ServerMissing extends Error {}

/** The configured command, else the checkout in development, else the wheel in the extension, else the PATH. */
export async function findServer(context: ExtensionContext, log: LogOutputChannel): Promise<ServerCommand> {
  const storage = context.globalStorageUri.fsPath;
  await workspace.fs.createDirectory(context.globalStorageUri);

  // Only the person's own settings: a workspace must not be able to start a program this way.
  const configured = workspace.getConfiguration('acpEditor').inspect<string[]>('server.command')?.globalValue ?? [];
  const [command, ...args] = configured;
  if (command !== undefined && command !== '') {
    return { command, args, cwd: storage, origin: 'acpEditor.server.command' };
  }

  const checkout = dirname(context.extensionPath);
  if (context.extensionMode !== ExtensionMode.Production && existsSync(join(checkout, 'acp_editor'))) {
    const python = executableIn(join(checkout, '.venv'), 'python');
    if (existsSync(python)) return { command: python, args: ['-m', 'acp_editor'], cwd: checkout, origin: 'checkout' };
    log.warn(`The checkout at ${checkout} has no .venv; looking further.`);
  }

  const reasons: string[] = [];
  const wheel = bundledWheel(context.extensionPath);
  if (wheel) {
    try {
      return { command: await install(wheel, storage, log), args: [], cwd: storage, origin: 'wheel in the extension' };
    } catch (error) {
      reasons.push(...(error instanceof EnvironmentFailed ? error.reasons : [messageOf(error)]));
    }
  }

  const installed = findOnPath('acp-editor');
  if (installed) return { command: installed, args: [], cwd: storage, origin: 'PATH' };
  reasons.push(l10n.t('acp-editor is not on the PATH.'));
  throw new ServerMissing(reasons.join(' '));
}

function bundledWheel(extension: string): string | undefined {
  const folder = join(extension, 'bundled');
  if (!existsSync(folder)) return undefined;
  const name = readdirSync(folder).find((file) => file.endsWith('.whl'));
  return name === undefined ? undefined : join(folder, name);
}

async function install(wheel: string, storage: string, log: LogOutputChannel): Promise<string> {
  const steps = {
    waiting: l10n.t('waiting for another window'),
    creating: l10n.t('making a private Python environment'),
    installing: l10n.t('installing'),
  };
  let show: (message: string) => void = () => undefined;
  let done: () => void = () => undefined;
  let shown = false;
  const begin = (): void => {
    if (shown) return;
    shown = true;
    const options = { location: ProgressLocation.Notification, title: l10n.t('ACP: setting up the server, once') };
    void window.withProgress(options, (progress) => {
      show = (message) => progress.report({ message });
      return new Promise<void>((resolve) => (done = resolve));
    });
  };
  try {
    return await ensureEnvironment(wheel, storage, {
      run: (command, args) => {
        log.info(`$ ${[command, ...args].join(' ')}`);
        return runProgram(command, args);
      },
      report: (step) => {
        begin();
        show(steps[step]);
      },
      log: (line) => log.info(line),
    });
  } finally {
    done();
  }
}
