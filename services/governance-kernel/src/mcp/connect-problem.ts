import { basename } from 'node:path';
import { problemText } from '@countersign/service-kit';
import { shownLine, type LastWords } from './last-words.ts';
import type { McpServerConfig } from './server-config.ts';

type Failure = { error: unknown; hasEnded: boolean; lastWords: LastWords };

/** Why a server could not be connected to, in one line. What it wrote itself is escaped and cut. */
export function connectProblem(config: McpServerConfig, { error, hasEnded, lastWords }: Failure): string {
  const words = lastWords.said();
  const problem = shownLine(problemText(error));
  if (config.transport === 'http') return problem;
  if (hasEnded) return `${basename(config.command)} ended: ${words ?? 'it said nothing'}`;
  return words === null ? problem : `${problem}; it said: ${words}`;
}
