import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import { formatCosignerVkey, parseVkey, type NoteKey } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { CommandFailed } from '../command-failed.ts';
import type { Io } from '../io.ts';

type WitnessOptions = {
  name: string;
  folder: string;
  log: NoteKey[];
  host: string;
  port: number;
  limit: number;
  trustedProxies: number;
};

/** A kernel submits about one checkpoint per minute, and more after a break. Monitors read as often. */
const limitDefault = 120;

/** A witness is deliberately small, because another party runs it and trusts no other code of this project. */
export function addWitness(program: Command, io: Io): void {
  program
    .command('witness')
    .description('Cosign the checkpoints of logs as an independent witness (C2SP tlog-witness).')
    .requiredOption('--name <name>', 'the name of the witness, such as witness.example.org/w1')
    .requiredOption('--log <key>', 'the verifier key of an accepted log. Repeat the option for each log', logs)
    .option(
      '--folder <path>',
      'the folder with its key and its last cosigned checkpoints. The first start creates it',
      'witness',
    )
    .option('--host <address>', 'the address on which it listens', '127.0.0.1')
    .option('--port <port>', 'the port, or 0 for any free port', portOf, 7_715)
    .option('--limit <n>', 'the requests per client and minute', countOf({ min: 1, max: 100_000 }), limitDefault)
    .option(
      '--trusted-proxies <n>',
      'the number of proxies in front of it, whose X-Forwarded-For names the client',
      countOf({ min: 0, max: 10 }),
      0,
    )
    .action((options: WitnessOptions) => witness(options, io));
}

async function witness({ name, folder: path, log, ...serving }: WitnessOptions, io: Io): Promise<void> {
  // Imported here, so that other commands do not load a server.
  const [{ openWitnessFolder }, { Witness }, { serveWitness }] = await Promise.all([
    import('../witness/witness-folder.ts'),
    import('../witness/witness.ts'),
    import('../witness/serve-witness.ts'),
  ]);
  const folder = await openWitnessFolder({ path, name });
  const onError = (error: unknown) => io.tell(`${error instanceof Error ? error.message : String(error)}\n`);
  const onFork = (fork: Fork) => keepFork(path, fork, io).catch(onError);
  try {
    const judge = new Witness({ folder, logs: log, clock: () => new Date(), onFork });
    const served = await serveWitness(judge, { ...serving, onError }).catch((cause: NodeJS.ErrnoException) => {
      throw new CommandFailed(
        `The witness cannot listen on ${serving.host}:${serving.port}: ${cause.code ?? cause.message}`,
        2,
      );
    });
    io.tell(`The witness listens on ${served.url}\n`);
    io.write(`${formatCosignerVkey(folder.key)}\n`);
    if (!io.signal.aborted) await once(io.signal, 'abort');
    await served.close();
  } finally {
    await folder.close();
  }
}

type Fork = { origin: string; size: number; cosigned: string; refused: string };

/** The log signed both notes, so they prove its fork to everyone. Only the first fork of each log is stored. */
async function keepFork(folder: string, { origin, size, cosigned, refused }: Fork, io: Io): Promise<void> {
  const file = join(folder, `fork-${createHash('sha256').update(origin).digest('hex').slice(0, 16)}.txt`);
  const isNew = await writeFile(file, `${cosigned}\n${refused}`, { flag: 'wx', mode: 0o600 }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
  if (isNew) io.tell(`The log ${origin} signed two trees of ${size} leaves. Both checkpoints: ${file}\n`);
}

function portOf(text: string): number {
  if (/^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('A port is a whole number up to 65535.');
}

function countOf({ min, max }: { min: number; max: number }) {
  return (text: string): number => {
    const count = /^[0-9]{1,6}$/.test(text) ? Number(text) : -1;
    if (count >= min && count <= max) return count;
    throw new InvalidArgumentError(`It is a whole number from ${min} to ${max}.`);
  };
}

function logs(text: string, before: NoteKey[] = []): NoteKey[] {
  try {
    return [...before, parseVkey(nodeProvider, text)];
  } catch {
    throw new InvalidArgumentError('The verifier key of a log has its origin, a hash and a key, joined by plus signs.');
  }
}
