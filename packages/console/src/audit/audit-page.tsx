import { useMemo } from 'react';
import { z } from 'zod';
import { AuditVerdict, mayDo } from '@countersign/contracts';
import { listAuditEntries } from '@countersign/contracts/control-plane';
import { CopyCommand } from '../parts/copy-command.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { Facet } from '../parts/facet.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { LongTable } from '../parts/long-table.tsx';
import { Moment } from '../parts/moment.tsx';
import { NoneLikeThis } from '../parts/none-like-this.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { useLastingList, type LastingList } from '../workspace/lasting-list.ts';
import { workspaceClient } from '../api/clients.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { usePageSearch } from '../workspace/page-search.ts';
import type { Lasting } from '../workspace/read-newest.ts';
import { AuditClaims } from './audit-claims.tsx';
import { controlPlaneRow, mergeChains, workspaceRow, type AuditRow, type Chain } from './audit-rows.ts';
import { AuditVerdictMark, auditVerdicts } from './audit-verdict.tsx';
import { actionInWords, reasonInWords } from './audit-words.ts';
import { Who } from './who.tsx';

const Search = z.object({ verdict: AuditVerdict.optional().catch(undefined) });
type Narrowed = z.infer<typeof Search>;

/** The actions in the workspace, from the logs of both services, newest first. */
export function AuditPage() {
  const [{ verdict }, change] = usePageSearch(Search);
  const { role } = useWorkspace();
  const shown = { verdict, onAll: () => change({ verdict: undefined }) };
  return (
    <Page
      title="Audit"
      about="Who did what in this workspace. The workspace log has work and members. The control plane log has stops, incidents and policies."
      actions={
        <Facet
          label="Decision"
          value={verdict}
          options={AuditVerdict.options}
          inWords={(each) => auditVerdicts[each].word}
          onChange={(next) => change({ verdict: next })}
        />
      }
    >
      {mayDo(role, 'operation_audit.read') ? <BothLogs {...shown} /> : <WorkspaceLog {...shown} />}
    </Page>
  );
}

type Shown = Narrowed & { onAll: () => void };

function WorkspaceLog({ verdict, onAll }: Shown) {
  const { query, older } = useWorkspaceLog(verdict);
  return (
    <>
      <p className="note">Partners and owners also see stops, incidents and policies here.</p>
      <Loaded query={query}>{(list) => <Entries {...{ list, older, onAll }} />}</Loaded>
      <AuditClaims workspace={query.data?.items ?? []} controlPlane={null} isNarrowed={verdict !== undefined} />
      <Command verdict={verdict} count={query.data?.items.length ?? 0} />
    </>
  );
}

function BothLogs({ verdict, onAll }: Shown) {
  const own = useWorkspaceLog(verdict);
  const { id } = useWorkspace();
  const second = useLastingList(
    ['audit', 'control-plane', verdict],
    (_, { signal, ...at }) =>
      workspaceClient({ listAuditEntries }, id).listAuditEntries({
        query: { workspace_id: id, verdict, ...at },
        signal,
      }),
    { rowOf: controlPlaneRow },
  );
  const [mine, theirs] = [own.query.data, second.query.data];
  const list = useMemo(() => mine && mergeChains(theirs === undefined ? [mine] : [mine, theirs]), [mine, theirs]);
  const isWaiting = theirs === undefined && second.query.error === null;
  return (
    <>
      {second.query.error !== null && (
        <>
          <ProblemNote error={second.query.error} retry={() => void second.query.refetch()} />
          <p className="stale">Stops, incidents and policies may be missing from the list.</p>
        </>
      )}
      <Loaded query={own.query}>
        {() =>
          isWaiting || list === undefined ? (
            <Skeleton />
          ) : (
            <Entries {...{ list, older: olderOf([own, second]), onAll }} />
          )
        }
      </Loaded>
      <AuditClaims
        workspace={mine?.items ?? []}
        controlPlane={theirs?.items ?? null}
        isNarrowed={verdict !== undefined}
      />
      <Command verdict={verdict} count={countOf(list, 'workspace')} />
    </>
  );
}

function useWorkspaceLog(verdict: Narrowed['verdict']): LastingList<AuditRow> {
  return useLastingList(
    ['audit', verdict],
    (client, { signal, ...at }) => client.listAudit({ query: { verdict, ...at }, signal }),
    { rowOf: workspaceRow },
  );
}

/** The paging of both logs as one: a request for older entries goes to each log. */
function olderOf(lists: readonly LastingList<AuditRow>[]): LastingList<AuditRow>['older'] {
  const olders = lists.map(({ older }) => older);
  return {
    has: olders.some(({ has }) => has),
    isAsked: olders.some(({ isAsked }) => isAsked),
    fault: olders.find(({ fault }) => fault !== null)?.fault ?? null,
    ask: () => olders.forEach((older) => older.ask()),
  };
}

function countOf(list: Lasting<AuditRow> | undefined, chain: Chain): number {
  return list?.items.filter((row) => row.chain === chain).length ?? 0;
}

/** The command lists only the workspace log. `countersign` has no command for the control plane log. */
function Command({ verdict, count }: Narrowed & { count: number }) {
  return (
    <section aria-label="Workspace log">
      <CopyCommand words="audit ls" filters={{ verdict }} count={count} />
    </section>
  );
}

type EntriesProps = { list: Lasting<AuditRow>; older: LastingList<AuditRow>['older']; onAll: () => void };

function Entries({ list, older, onAll }: EntriesProps) {
  if (list.items.length === 0 && !older.has) return <NoneLikeThis title="No entries match" onAll={onAll} />;
  return <LongTable label="Entries" columns={columns} cells={Cells} list={list} older={older} />;
}

const columns = [
  { title: 'When', className: 'when-short' },
  { title: 'Action', className: 'act' },
  { title: 'Decision', className: 'verdict wide' },
  { title: 'Who', className: 'who' },
  { title: 'Reason', className: 'wide' },
  { title: 'Log', className: 'log wide' },
  { title: 'Hash', className: 'hash wide' },
];

const logNames: Readonly<Record<Chain, string>> = { workspace: 'Workspace', 'control-plane': 'Control plane' };

function Cells({ row: { chain, seq, createdAt, action, verdict, actor, reason, hash } }: { row: AuditRow }) {
  return (
    <>
      <td>
        <Moment at={createdAt} />
      </td>
      <td>
        <span title={action}>
          <Shown text={actionInWords(action)} />
        </span>
      </td>
      <td className="wide">
        <AuditVerdictMark verdict={verdict} />
      </td>
      <td>
        <Who actor={actor} />
      </td>
      <td className="wide">
        <span title={reason}>
          <Shown text={reasonInWords(reason)} />
        </span>
      </td>
      <td className="wide">
        {logNames[chain]} {seq}
      </td>
      <td className="wide">
        <CopyText text={hash} />
      </td>
    </>
  );
}
