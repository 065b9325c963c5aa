import { Option, type Command } from 'commander';
import { PersonRole } from '@countersign/contracts';
import { forTerminal } from '@countersign/verifier';
import { configFrom } from '../config.ts';
import { urlDefault } from '../connection/credential.ts';
import { loginByDevice } from '../connection/device-login.ts';
import { removeLogin, writeLogin } from '../connection/login-file.ts';
import type { Io } from '../io.ts';

type Asked = { url?: string; role: PersonRole };

export function addLogin(program: Command, io: Io): void {
  program
    .command('login')
    .description('Sign this terminal in, for one workspace: you confirm a code at a browser.')
    .option('--url <url>', `where the gateway answers; else COUNTERSIGN_URL, else ${urlDefault}`)
    .addOption(new Option('--role <role>', 'what it may at most').choices(PersonRole.options).default('member'))
    .action((asked: Asked) => login(asked, io));
  program
    .command('logout')
    .description('Forget the login of this terminal. In the console you end it for everybody who has it.')
    .action(async () => {
      const { dir } = configFrom(io.env);
      await removeLogin(dir);
      io.tell('This terminal is signed out.\n');
    });
}

async function login({ url, role }: Asked, io: Io): Promise<void> {
  const { dir, url: configured, workspaceId } = configFrom(io.env);
  const wanted = { url: url ?? configured ?? urlDefault, role, workspaceId };
  const made = await loginByDevice(
    wanted,
    ({ address, code }) => io.tell(`Open ${forTerminal(address)}\nand confirm the code ${forTerminal(code)}\n`),
    io.signal,
  );
  await writeLogin(dir, made);
  io.tell(`Signed in to ${made.workspace_id} as ${made.role}.\n`);
}
