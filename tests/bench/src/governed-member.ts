import type { BenchDatabase } from './bench-database.ts';
import type { Bench } from './bench.ts';
import { loadMember, type Member } from './member.ts';
import type { Running } from './processes.ts';
import { chatCall, evaluateCall, toolCall } from './requests.ts';

/** Decisions of one or more kernels on one database. */
export function evaluating(bench: Bench, database: BenchDatabase, kernels: Running[], connections = 64): Member {
  return loadMember({
    ...callerOf(bench),
    servers: kernels,
    path: '/api/v1/evaluate',
    kind: evaluateCall,
    connections,
    sealing: { database, receiptsPerAnswer: 1 },
  });
}

export function chatting(bench: Bench, database: BenchDatabase, kernel: Running): Member {
  return loadMember({
    ...callerOf(bench),
    servers: [kernel],
    path: '/v1/chat/completions',
    kind: chatCall,
    connections: 64,
    sealing: { database, receiptsPerAnswer: 2 },
  });
}

type ToolLoad = { connections: number; tool?: string };

export function toolCalling(
  bench: Bench,
  database: BenchDatabase,
  kernel: Running,
  { connections, tool = 'notes.fill' }: ToolLoad,
): Member {
  return loadMember({
    ...callerOf(bench),
    servers: [kernel],
    path: '/mcp',
    kind: toolCall(tool),
    connections,
    sealing: { database, receiptsPerAnswer: 2 },
  });
}

const callerOf = ({ generator, settings }: Bench) => ({ generator, headers: settings.headers });
