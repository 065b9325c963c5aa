import { useMemo } from 'react';
import { z } from 'zod';
import { AuditVerdict, mayDo } from '@countersign/contracts';
import { listAuditEntries } from '@countersign/contracts/control-plane';
import { CopyCommand } from '../parts/copy-command.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { Facet } from '../parts/facet.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { LongTable } from '../parts/long-table.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { NoneLikeThis } from '../parts/none-like-this.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { useLastingList, type LastingList } from '../workspace/lasting-list.ts';
import { workspaceClient } from '../api/clients.ts';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { usePageSearch } from '../workspace/page-search.ts';
import type { Lasting } from '../workspace/read-newest.ts';
import { AuditClaims } from './audit-claims.tsx';
import { controlPlaneRow, mergeChains, workspaceRow, type AuditRow, type Chain } from './audit-rows.ts';
import { NamesContext, Who } from './who.tsx';

const Search = z.object({ verdict: AuditVerdict.optional().catch(undefined) });
type Narrowed = z.infer<typeof Search>;

/** Who did what in the workspace, from the logs of both services, newest first. */
export function AuditPage() {
  const [{ verdict }, change] = usePageSearch(Search);
  const { role } = useWorkspace();
  const names = useNames();
  const shown = { verdict, onAll: () => change({ verdict: undefined }) };
  return (
    <Page
      title="Audit"
      about="Who did what in this workspace. The workspace log has work and members. The control plane log has stops, incidents and policies."
      actions={
        <Facet
          label="Verdict"
          value={verdict}
          options={AuditVerdict.options}
          onChange={(next) => change({ verdict: next })}
        />
      }
    >
      <NamesContext value={names}>
        {mayDo(role, 'operation_audit.read') ? <BothLogs {...shown} /> : <WorkspaceLog {...shown} />}
      </NamesContext>
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
  const other = useLastingList(
    ['audit', 'control-plane', verdict],
    (_, { signal, ...at }) =>
      workspaceClient({ listAuditEntries }, id).listAuditEntries({
        query: { workspace_id: id, verdict, ...at },
        signal,
      }),
    { rowOf: controlPlaneRow },
  );
  const [mine, theirs] = [own.query.data, other.query.data];
  const list = useMemo(() => mine && mergeChains(theirs === undefined ? [mine] : [mine, theirs]), [mine, theirs]);
  const isWaiting = theirs === undefined && other.query.error === null;
  return (
    <>
      {other.query.error !== null && (
        <>
          <ProblemNote error={other.query.error} again={() => void other.query.refetch()} />
          <p className="stale">Stops, incidents and policies may be missing from the list.</p>
        </>
      )}
      <Loaded query={own.query}>
        {() =>
          isWaiting || list === undefined ? (
            <p className="quiet waiting" role="status">
              Loading…
            </p>
          ) : (
            <Entries {...{ list, older: olderOf([own, other]), onAll }} />
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

/** Each log is read further where there is more. */
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

/** The control plane has no such command, so the command lists the workspace log. */
function Command({ verdict, count }: Narrowed & { count: number }) {
  return (
    <section aria-label="Workspace log">
      <CopyCommand words="audit ls" filters={{ verdict }} count={count} />
    </section>
  );
}

function useNames(): ReadonlyMap<string, string> {
  const { id } = useWorkspace();
  const { data } = useWorkspaceQuery(['members'], (client, signal) =>
    client.getConsoleWorkspace({ params: { id }, signal }),
  );
  return useMemo(
    () => new Map((data?.members ?? []).map(({ user_id: userId, name, email }) => [userId, email ?? name])),
    [data],
  );
}

type EntriesProps = { list: Lasting<AuditRow>; older: LastingList<AuditRow>['older']; onAll: () => void };

function Entries({ list, older, onAll }: EntriesProps) {
  if (list.items.length === 0 && !older.has) return <NoneLikeThis title="No entry like this" onAll={onAll} />;
  return <LongTable label="Entries" columns={columns} cells={Cells} list={list} older={older} />;
}

const columns = [
  { title: 'When', className: 'when' },
  { title: 'Action' },
  { title: 'Who' },
  { title: 'Log' },
  { title: 'Why', className: 'wide' },
  { title: 'Hash', className: 'wide' },
];

const logNames: Readonly<Record<Chain, string>> = { workspace: 'Workspace', 'control-plane': 'Control plane' };

function Cells({ row: { chain, seq, createdAt, action, verdict, actor, reason, hash } }: { row: AuditRow }) {
  return (
    <>
      <td>
        <Moment at={createdAt} />
      </td>
      <td>
        <Shown text={action} /> <Mark tone={verdict === 'deny' ? 'bad' : 'plain'}>{verdict}</Mark>
      </td>
      <td>
        <Who actor={actor} />
      </td>
      <td>
        {logNames[chain]} {seq}
      </td>
      <td className="wide">
        <Shown text={reason} />
      </td>
      <td className="wide">
        <CopyText text={hash} />
      </td>
    </>
  );
}
