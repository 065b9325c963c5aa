import type { Command } from 'commander';
import { isAppError } from '@countersign/contracts';
import { getGovernanceStatus, getHealth } from '@countersign/contracts/gateway';
import { CommandFailed } from '../command-failed.ts';
import { configFrom } from '../config.ts';
import { answered, connect, type Connection } from '../connection/connection.ts';
import { refusalWords } from '../connection/refusal-words.ts';
import type { Io } from '../io.ts';
import { listText, type Column, type Format } from '../output/format.ts';
import { outputOption } from './options.ts';

type Finding = { check: string; ok: boolean; found: string };

const columns: Column<Finding>[] = [
  { title: '', of: ({ ok }) => (ok ? 'ok' : 'PROBLEM') },
  { title: 'CHECK', of: ({ check }) => check },
  { title: 'FOUND', of: ({ found }) => found },
];
const clockSecondsMax = 30;

export function addDoctor(program: Command, io: Io, end: (status: number) => void): void {
  program
    .command('doctor')
    .description('Diagnose problems of this terminal with its server, and name the next step.')
    .addOption(outputOption())
    .action(async ({ output }: { output: Format }) => {
      const findings = await examine(io);
      io.write(listText({ items: findings, columns, format: output }));
      end(findings.every(({ ok }) => ok) ? 0 : 1);
    });
}

/** Without a credential or an answer of the gateway, the other checks are skipped. */
async function examine({ env }: Io): Promise<Finding[]> {
  const findings: Finding[] = [];
  const find = async <Found>(check: string, look: () => Promise<[string, Found]>): Promise<Found | null> => {
    try {
      const [words, found] = await look();
      findings.push({ check, ok: true, found: words });
      return found;
    } catch (error) {
      findings.push({ check, ok: false, found: wordsOf(error) });
      return null;
    }
  };
  const connection = await find('credential', () => credential(env));
  if (connection === null || (await find('gateway', () => healthOf(connection))) === null) return findings;
  await find('clock', () => clockOf(connection));
  await find('kernel', () => kernelOf(connection));
  return findings;
}

async function credential(env: Io['env']): Promise<[string, Connection]> {
  const connection = await connect(configFrom(env));
  return [`${connection.workspaceId ?? 'the workspace of the key'} at ${connection.url}`, connection];
}

async function healthOf(connection: Connection): Promise<[string, true]> {
  const { status, version, checks, problems } = await answered(connection, () =>
    connection.ask({ getHealth }).getHealth(),
  );
  const pieces = Object.entries(checks).map(([name, state]) => `${name} ${state}`);
  const found = problems.map(({ message }) => message).join(' ');
  if (status !== 'ok') throw new CommandFailed(`${status}: ${pieces.join(', ')}. ${found}`, 1);
  return [`version ${version}, ${pieces.join(', ')}`, true];
}

async function clockOf({ ask }: Connection): Promise<[string, true]> {
  const { headers } = await ask({ getHealth }).getHealth();
  const apart = Math.abs(Date.now() - Date.parse(headers.get('date') ?? '')) / 1_000;
  if (!(apart <= clockSecondsMax))
    throw new CommandFailed(`${Math.round(apart)} s apart from the gateway's. Set the clock of this computer`, 1);
  return [`within ${clockSecondsMax} s of the gateway's`, true];
}

async function kernelOf(connection: Connection): Promise<[string, true]> {
  const client = connection.ask({ getGovernanceStatus });
  const { live, trustedKeyIds } = await answered(connection, () => client.getGovernanceStatus());
  if (live?.ok !== true)
    throw new CommandFailed(`the kernel does not answer: ${live?.error ?? 'no kernel is configured'}`, 1);
  return [`answers in ${Math.round(live.latencyMs)} ms; receipts are signed by ${trustedKeyIds.join(', ')}`, true];
}

function wordsOf(error: unknown): string {
  if (isAppError(error)) return refusalWords(error.message, error.code).message;
  return error instanceof Error ? error.message : String(error);
}
