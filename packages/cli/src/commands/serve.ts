import { once } from 'node:events';
import type { Command } from 'commander';
import { registryPathOf } from '../config.ts';
import type { Io } from '../io.ts';
import { countUpTo } from './options.ts';

type ServeOptions = { policy?: string; port: number };

/** Adds `countersign serve`, which decides like the kernel on 127.0.0.1, with the registry file as its only storage. */
export function addServe(program: Command, io: Io): void {
  program
    .command('serve')
    .description('Serve a local policy boundary on 127.0.0.1. It decides and seals calls like the kernel.')
    .option('--policy <file>', 'the policy file, reloaded when it changes (default: the policy in the registry file)')
    .option('--port <port>', 'the port', countUpTo(65_535), 7_714)
    .action((options: ServeOptions) => serve(options, io));
}

async function serve({ policy, port }: ServeOptions, io: Io): Promise<void> {
  // Imported here, so that other commands do not load a kernel.
  const { keysPathOf, serveLocalBoundary } = await import('@countersign/governance-kernel/local-boundary');
  const served = await serveLocalBoundary({ path: registryPathOf(io.env), policyFile: policy ?? null, port });
  io.tell(`The local policy boundary listens on ${served.url}\n`);
  io.tell(`Registry file: ${served.path}\nOperator key: operator_key in ${keysPathOf(served.path)}\n`);
  if (!io.signal.aborted) await once(io.signal, 'abort');
  await served.stop();
}
