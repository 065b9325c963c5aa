import { z } from 'zod';
import { AuditVerdict } from '@countersign/contracts';
import type { AuditEntry } from '@countersign/contracts/gateway';
import { CopyCommand } from '../parts/copy-command.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Facet } from '../parts/facet.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { More } from '../parts/more.tsx';
import { Page } from '../parts/page.tsx';
import { Shown } from '../parts/shown.tsx';
import { usePageSearch } from '../workspace/page-search.ts';
import { useWorkspaceList } from '../workspace/workspace-list.ts';

const Search = z.object({ verdict: AuditVerdict.optional().catch(undefined) });

/** Who did what in the workspace: a chain of hashes, newest first. */
export function AuditPage() {
  const [{ verdict }, change] = usePageSearch(Search);
  const list = useWorkspaceList(['audit', verdict], (client, { cursor, signal }) =>
    client.listAudit({ query: { verdict, cursor }, signal }),
  );
  return (
    <Page
      title="Audit"
      about="Who did what here. Each entry holds the hash of the one before it, so none can be left out or changed unseen."
      actions={
        <Facet
          label="Verdict"
          value={verdict}
          options={AuditVerdict.options}
          onChange={(next) => change({ verdict: next })}
        />
      }
    >
      <Loaded query={list}>{(entries) => (entries.length === 0 ? <NoEntry /> : <Entries entries={entries} />)}</Loaded>
      <More list={list} />
      <CopyCommand words="audit ls" filters={{ verdict }} count={list.data?.length ?? 0} />
    </Page>
  );
}

function Entries({ entries }: { entries: AuditEntry[] }) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Entries">
      <table>
        <thead>
          <tr>
            <th className="number">No</th>
            <th>When</th>
            <th>Action</th>
            <th>Who</th>
            <th className="wide">Why</th>
            <th className="wide">Hash</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <Row key={entry.seq} entry={entry} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ entry: { seq, createdAt, action, verdict, actor, reason, hash } }: { entry: AuditEntry }) {
  return (
    <tr data-id={seq}>
      <td className="number">{seq}</td>
      <td className="tight">
        <Moment at={createdAt} />
      </td>
      <td>
        <Shown text={action} /> <Mark tone={verdict === 'deny' ? 'bad' : 'plain'}>{verdict}</Mark>
      </td>
      <td>
        <CopyText text={actor} />
      </td>
      <td className="wide">
        <Shown text={reason} />
      </td>
      <td className="tight wide">
        <CopyText text={hash} />
      </td>
    </tr>
  );
}

function NoEntry() {
  return (
    <EmptyState title="No entry like this">What people, keys and agents do in this workspace appears here.</EmptyState>
  );
}
