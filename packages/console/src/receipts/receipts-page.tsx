import { useNavigate, useParams } from '@tanstack/react-router';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { useShortcuts } from '../keys/shortcuts.ts';
import { CopyCommand } from '../parts/copy-command.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { More } from '../parts/more.tsx';
import { Page } from '../parts/page.tsx';
import { usePageSearch } from '../workspace/page-search.ts';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { Facets } from './facets.tsx';
import { ReceiptDrawer } from './receipt-drawer.tsx';
import { ReceiptSearch } from './receipt-search.ts';
import { ReceiptTable } from './receipt-table.tsx';
import { TakeBack } from './take-back.tsx';

const askAgainMs = 3_000;

/** `/receipts`: what the kernel has sealed. `/receipts/{receipt_id}`: one of it, whole. */
export function ReceiptsPage() {
  const { id }: { id?: string } = useParams({ strict: false });
  const navigate = useNavigate();
  const [search, change] = usePageSearch(ReceiptSearch);
  const { reason, ...filters } = search;
  const list = useWorkspaceList(
    ['receipts', search],
    (client, { cursor, signal }) => client.listReceipts({ query: { ...filters, reason_code: reason, cursor }, signal }),
    { everyMs: askAgainMs },
  );
  return (
    <Page
      title="Receipts"
      about="Every decision and what became of it, signed and in the log. Open one to check it here, with the same code as offline."
    >
      <Facets search={search} onChange={change} />
      <Loaded query={list}>{(receipts) => <Receipts receipts={receipts} />}</Loaded>
      <More list={list} />
      <CopyCommand words="receipts ls" filters={search} count={list.data?.length ?? 0} />
      <TakeBack />
      <ReceiptDrawer id={id ?? null} onClose={() => void navigate({ to: '/receipts' })} />
    </Page>
  );
}

function Receipts({ receipts }: { receipts: StoredReceipt[] }) {
  const navigate = useNavigate();
  const [newest] = receipts;
  useShortcuts([
    {
      keys: 'v',
      says: 'Open the newest receipt',
      run: () => {
        if (newest !== undefined) void navigate({ to: `/receipts/${newest.payload.receipt_id}` });
      },
    },
  ]);
  if (receipts.length > 0) return <ReceiptTable receipts={receipts} />;
  return (
    <EmptyState title="No receipt like this" command="make demo">
      Each decision leaves one. The demo shows one agent being allowed, denied, escalated and proven, and checks its
      receipts.
    </EmptyState>
  );
}
