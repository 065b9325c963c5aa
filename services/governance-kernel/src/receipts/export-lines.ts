import { setImmediate } from 'node:timers/promises';
import type { ExportHeader } from '@countersign/contracts/governance-kernel';
import type { SealedEntry } from '../ledger/statement.ts';
import type { Witnesses } from '../proof/witnesses.ts';
import type { ChainLink } from '../store/chain-link.ts';
import { linkedCheckpoints } from './linked-checkpoints.ts';
import { pageLinks, provenLine, provenLines, type ProofParts } from './proven-lines.ts';

type ExportParts = ProofParts & {
  witnesses: Witnesses;
  head: { entry: SealedEntry; logIndex: number };
  /** The links from this place on, at most `limit` of them. */
  listPage(from: number, limit: number): Promise<ChainLink[]>;
};

/**
 * The input of `countersign-verify`, line by line. Memory holds one page at most, and decisions are made between two
 * pages.
 */
export async function* exportLines(
  parts: ExportParts,
  { from, to }: { from: number; to: number },
): AsyncGenerator<string> {
  const linked = await linkedCheckpoints(parts, parts.witnesses.checkpoints);
  const header: ExportHeader = { format: 'countersign/chain-export.v2', ...linked };
  yield `${JSON.stringify(header)}\n`;
  yield `{"head":${await provenLine(parts, parts.head)}}\n`;
  for (let next = from; next <= to;) {
    const links = await parts.listPage(next, Math.min(pageLinks, to - next + 1));
    const last = links.at(-1);
    if (last === undefined || links[0]?.lamport !== next) throw new Error('The ledger lacks links of this chain');
    yield (await provenLines(parts, links)).map((line) => `${line}\n`).join('');
    next = last.lamport + 1;
    await setImmediate();
  }
}
