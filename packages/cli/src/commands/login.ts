import { Option, type Command } from 'commander';
import { PersonRole } from '@countersign/contracts';
import { forTerminal } from '@countersign/verifier';
import { configFrom } from '../config.ts';
import { urlDefault } from '../connection/credential.ts';
import { loginByDevice } from '../connection/device-login.ts';
import { removeLogin, writeLogin } from '../connection/login-file.ts';
import type { Io } from '../io.ts';

type Input = { url?: string; role: PersonRole };

export function addLogin(program: Command, io: Io): void {
  program
    .command('login')
    .description('Sign in to one workspace. You confirm a code in a browser.')
    .option('--url <url>', `the address of the gateway (default: COUNTERSIGN_URL, or ${urlDefault})`)
    .addOption(
      new Option('--role <role>', 'the highest role that the login can use')
        .choices(PersonRole.options)
        .default('member'),
    )
    .action((input: Input) => login(input, io));
  program
    .command('logout')
    .description('Delete the login of this terminal. To end it everywhere, use the console.')
    .action(async () => {
      const { dir } = configFrom(io.env);
      await removeLogin(dir);
      io.tell('This terminal is signed out.\n');
    });
}

async function login({ url, role }: Input, io: Io): Promise<void> {
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
