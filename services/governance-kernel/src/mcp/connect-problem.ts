import { basename } from 'node:path';
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { problemText } from '@countersign/service-kit';
import { shownLine, type LastWords } from './last-words.ts';
import type { McpServerConfig } from './server-config.ts';

/** Why a server could not be connected to, in one line. What it wrote itself is escaped and cut. */
export function connectProblem(config: McpServerConfig, error: unknown, lastWords: LastWords): string {
  const words = lastWords.said();
  const problem = shownLine(problemText(error));
  if (config.transport === 'http') return problem;
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
    return `${basename(config.command)} ended: ${words ?? 'it said nothing'}`;
  return words === null ? problem : `${problem}; it said: ${words}`;
}
