import { basename } from 'node:path';
import { problemText } from '@countersign/service-kit';
import type { Redact } from './configured-secrets.ts';
import { shownLine, type LastWords } from './last-words.ts';
import type { McpServerConfig } from './server-config.ts';

import { pathOutside } from '../../controls/sandbox/path-outside.ts';
import type { SandboxTerms } from '@countersign/contracts/governance-kernel';

type Failure = { error: unknown; hasEnded: boolean; lastWords: LastWords; terms: SandboxTerms | null; redact: Redact };

/** The reason why a connection to a server failed, in one line. Text from the server is escaped and cut. */
export function connectProblem(
  config: McpServerConfig,
  { error, hasEnded, lastWords, terms, redact }: Failure,
): string {
  const words = lastWords.line();
  const problem = shownLine(redact(problemText(error)));
  if (config.transport === 'http') return problem;
  const outside = terms === null ? null : pathOutside(terms, config);
  const hint = outside === null ? '' : `. The sandbox does not have ${shownLine(outside)}: grant it as a preopen`;
  if (hasEnded) return `${basename(config.command)} ended: ${words ?? 'it wrote no output'}${hint}`;
  return words === null ? problem : `${problem}; its output: ${words}`;
}
