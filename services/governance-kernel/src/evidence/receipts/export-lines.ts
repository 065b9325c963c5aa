import { setImmediate } from 'node:timers/promises';
import type { ExportHeader } from '@countersign/contracts/governance-kernel';
import type { SealedEntry } from '../../ledger/statement.ts';
import type { Witnesses } from '../proof/witnesses.ts';
import type { ChainLink } from '../../store/chain-link.ts';
import { linkedCheckpoints } from './linked-checkpoints.ts';
import { pageLinks, provenLine, provenLines, type ProofDeps } from './proven-lines.ts';

type ExportDeps = ProofDeps & {
  witnesses: Witnesses;
  head: { entry: SealedEntry; logIndex: number };
  /** At most `limit` links from this place on. */
  listPage(from: number, limit: number): Promise<ChainLink[]>;
};

/**
 * The input of `countersign-verify`, line by line. At most one page is in memory, and other requests are served between
 * two pages.
 */
export async function* exportLines(
  deps: ExportDeps,
  { from, to }: { from: number; to: number },
): AsyncGenerator<string> {
  const linked = await linkedCheckpoints(deps, deps.witnesses.checkpoints);
  const header: ExportHeader = { format: 'countersign/chain-export.v2', ...linked };
  yield `${JSON.stringify(header)}\n`;
  yield `{"head":${await provenLine(deps, deps.head)}}\n`;
  for (let next = from; next <= to;) {
    const links = await deps.listPage(next, Math.min(pageLinks, to - next + 1));
    const last = links.at(-1);
    if (last === undefined || links[0]?.lamport !== next) throw new Error('The ledger lacks links of this chain');
    yield (await provenLines(deps, links)).map((line) => `${line}\n`).join('');
    next = last.lamport + 1;
    await setImmediate();
  }
}
