import { basename } from 'node:path';
import { problemText } from '@countersign/service-kit';
import type { Redact } from './configured-secrets.ts';
import { shownLine, type LastWords } from './last-words.ts';
import type { McpServerConfig } from './server-config.ts';

import { pathOutside } from '../sandbox/path-outside.ts';
import type { SandboxTerms } from '@countersign/contracts/governance-kernel';

type Failure = { error: unknown; hasEnded: boolean; lastWords: LastWords; terms: SandboxTerms | null; redact: Redact };

/** Why a server could not be connected to, in one line. Text that the server wrote is escaped and cut. */
export function connectProblem(
  config: McpServerConfig,
  { error, hasEnded, lastWords, terms, redact }: Failure,
): string {
  const words = lastWords.said();
  const problem = shownLine(redact(problemText(error)));
  if (config.transport === 'http') return problem;
  const outside = terms === null ? null : pathOutside(terms, config);
  const hint = outside === null ? '' : `. The sandbox does not have ${shownLine(outside)}: grant it as a preopen`;
  if (hasEnded) return `${basename(config.command)} ended: ${words ?? 'it said nothing'}${hint}`;
  return words === null ? problem : `${problem}; it said: ${words}`;
}
