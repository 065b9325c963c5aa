import { useNavigate, useParams } from '@tanstack/react-router';
import { useShortcuts } from '../keys/shortcuts.ts';
import { CopyCommand } from '../parts/copy-command.tsx';
import { FirstCall } from '../parts/first-call.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { NoneLikeThis } from '../parts/none-like-this.tsx';
import { Page } from '../parts/page.tsx';
import { usePageSearch } from '../workspace/page-search.ts';
import type { Lasting } from '../workspace/read-newest.ts';
import { useLastingList, type LastingList } from '../workspace/lasting-list.ts';
import { Facets } from './facets.tsx';
import { ReceiptDrawer } from './receipt-drawer.tsx';
import { ReceiptSearch } from './receipt-search.ts';
import { receiptRowOf, ReceiptTable, type ReceiptRow } from './receipt-table.tsx';

const askAgainMs = 3_000;

/** `/receipts`: what the kernel has sealed. `/receipts/{receipt_id}`: one of it, whole. */
export function ReceiptsPage() {
  const { id }: { id?: string } = useParams({ strict: false });
  const navigate = useNavigate();
  const [search, change] = usePageSearch(ReceiptSearch);
  const { reason, ...filters } = search;
  const { query, older } = useLastingList(
    ['receipts', search],
    (client, { signal, ...at }) => client.listReceipts({ query: { ...filters, reason_code: reason, ...at }, signal }),
    { rowOf: receiptRowOf, everyMs: askAgainMs },
  );
  const isNarrowed = Object.values<unknown>(search).some((value) => value !== undefined);
  const show = (path: string) => void navigate({ to: path, search: (before: object) => before });
  return (
    <Page
      title="Receipts"
      about="Every decision and its outcome, signed and logged. Open a receipt to verify it in this browser."
    >
      <Facets search={search} onChange={change} />
      <Loaded query={query}>
        {(list) => (
          <>
            {!isNarrowed && hasNoCall(list) && <FirstCall />}
            {list.items.length > 0 ? (
              <Receipts list={list} older={older} onOpen={(receipt) => show(`/receipts/${receipt}`)} />
            ) : (
              isNarrowed && (
                <NoneLikeThis title="No receipt like this" onAll={() => void navigate({ to: '/receipts' })} />
              )
            )}
          </>
        )}
      </Loaded>
      <CopyCommand words="receipts ls" filters={search} count={query.data?.items.length ?? 0} />
      <ReceiptDrawer id={id ?? null} onClose={() => show('/receipts')} />
    </Page>
  );
}

/** Whoever sets up a workspace leaves receipts of their own. */
function hasNoCall({ items, next }: Lasting<ReceiptRow>): boolean {
  return next === null && items.every(({ kind }) => kind !== 'decision');
}

type ReceiptsProps = {
  list: Lasting<ReceiptRow>;
  older: LastingList<ReceiptRow>['older'];
  onOpen: (id: string) => void;
};

function Receipts({ list, older, onOpen }: ReceiptsProps) {
  const [newest] = list.items;
  useShortcuts([
    {
      keys: 'v',
      says: 'Open the newest receipt; once more: verify it',
      run: () => {
        if (newest !== undefined) onOpen(newest.id);
      },
    },
  ]);
  return <ReceiptTable list={list} older={older} />;
}
