import { Link } from '@tanstack/react-router';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { DecisionTable } from '../parts/decision-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';

const rowsMax = 5;

/** The latest other decisions about the same tool with the same verdict. */
export function SimilarCalls({ receipt: { payload } }: { receipt: StoredReceipt }) {
  const { receipt_id: id, tool, verdict } = payload;
  const search = { tool: tool ?? undefined, verdict, kind: 'decision' } as const;
  const similar = useWorkspaceQuery(['receipts', 'similar', id], async (client, signal) =>
    // Reads one more row than is shown, because this receipt may be among the rows.
    client.listReceipts({ query: { ...search, limit: rowsMax + 1 }, signal }),
  );
  if (tool === null) return null;
  return (
    <section aria-label="Similar calls">
      <div className="section-head">
        <h2>Similar calls</h2>
        <Link to="/activity" search={search}>
          See all
        </Link>
      </div>
      <Loaded query={similar}>
        {({ data }) => {
          const others = data.filter(({ payload: { receipt_id } }) => receipt_id !== id).slice(0, rowsMax);
          return others.length === 0 ? (
            <p className="quiet">No other call of this tool was decided this way.</p>
          ) : (
            <DecisionTable receipts={others} />
          );
        }}
      </Loaded>
    </section>
  );
}
