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
import { CallsOverTime } from './calls-over-time.tsx';
import { FilterBar } from './filter-bar.tsx';
import { ReceiptPage } from './receipt-page.tsx';
import { ActivitySearch } from './activity-search.ts';
import { receiptRowOf, ReceiptTable, type ReceiptRow } from './activity-table.tsx';
import { Views } from './views.tsx';

const askAgainMs = 3_000;

/** `/activity`: the list of receipts. `/activity/{receipt_id}`: one receipt. */
export function ActivityPage() {
  const { id }: { id?: string } = useParams({ strict: false });
  // The key mounts a new page for each receipt, so no state of the last one stays.
  return id === undefined ? <ActivityList /> : <ReceiptPage key={id} id={id} />;
}

function ActivityList() {
  const navigate = useNavigate();
  const [search, change] = usePageSearch(ActivitySearch);
  const { reason, ...filters } = search;
  const { query, older } = useLastingList(
    ['receipts', search],
    (client, { signal, ...at }) => client.listReceipts({ query: { ...filters, reason_code: reason, ...at }, signal }),
    { rowOf: receiptRowOf, everyMs: askAgainMs },
  );
  const isNarrowed = Object.values<unknown>(search).some((value) => value !== undefined);
  const show = (path: string) => void navigate({ to: path, search: (before: object) => before });
  return (
    <Page title="Activity" about="Every call your agents made, what was decided, and its signed receipt.">
      <Views search={search} />
      <FilterBar search={search} onChange={change} />
      <CallsOverTime search={search} />
      <Loaded query={query}>
        {(list) => (
          <>
            {!isNarrowed && hasNoCall(list) && <FirstCall />}
            {list.items.length > 0 ? (
              <Receipts list={list} older={older} onOpen={(receipt) => show(`/activity/${receipt}`)} />
            ) : (
              isNarrowed && <NoneLikeThis title="No calls match" onAll={() => void navigate({ to: '/activity' })} />
            )}
          </>
        )}
      </Loaded>
      <CopyCommand words="receipts ls" filters={search} count={query.data?.items.length ?? 0} />
    </Page>
  );
}

/** Whether the whole list contains no call. The setup of a workspace writes receipts that are not calls. */
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
      says: 'Open the newest receipt, which is checked at once',
      run: () => {
        if (newest !== undefined) onOpen(newest.id);
      },
    },
  ]);
  return <ReceiptTable list={list} older={older} />;
}
