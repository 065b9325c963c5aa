import { z } from 'zod';
import { Instant, SessionId } from '../scalars.ts';

/** The exported range: the chain of a session or the receipts of a period. Incomplete ranges are rejected. */
export const ExportQuery = z
  .strictObject({
    tenant_id: z.string().optional(),
    session_id: SessionId.optional(),
    /** For a session: the first position in its chain. A part that does not begin at 1 is verified as partial. */
    from_lamport_clock: z.coerce.number().int().min(1).optional(),
    /** For a session: the number of receipts. Without it, the whole chain. */
    limit: z.coerce.number().int().min(1).optional(),
    /** For a period, inclusive. */
    from: Instant.optional(),
    /** For a period, exclusive, and not later than now. */
    to: Instant.optional(),
  })
  .superRefine((query, context) => {
    for (const [member, message] of faultsOf(query)) context.addIssue({ code: 'custom', path: [member], message });
  });
export type ExportQuery = z.infer<typeof ExportQuery>;

type Members = { [Member in keyof ExportQuery]?: ExportQuery[Member] };

/**
 * Returns the faults of a query. A query for a session must not contain members for a period, and vice versa. They
 * would have no effect.
 */
function faultsOf({ session_id, from, to, from_lamport_clock, limit }: Members): [keyof ExportQuery, string][] {
  if (session_id !== undefined)
    return strays({ from, to }, 'must not be sent with session_id: it is for the export of a period');
  if (from === undefined && to === undefined) return [['session_id', 'must be sent, or from and to of a period']];
  const foreign = strays(
    { from_lamport_clock, limit },
    'must not be sent with from and to: it is for the export of a session',
  );
  if (from === undefined || to === undefined) {
    const missing = from === undefined ? 'from' : 'to';
    return [...foreign, [missing, 'must be sent too: a period has two ends']];
  }
  // Instants have one length, so their order is that of their texts.
  return from < to ? foreign : [...foreign, ['to', 'must be later than from']];
}

function strays(members: Partial<Record<keyof ExportQuery, unknown>>, message: string): [keyof ExportQuery, string][] {
  const named = Object.entries(members).filter(([, value]) => value !== undefined);
  return named.map(([member]) => [member as keyof ExportQuery, message]); // `members` has only names of ExportQuery
}
