import { z } from 'zod';
import { AuditVerdict } from '@countersign/contracts';
import type { AuditEntry } from '@countersign/contracts/gateway';
import { CopyCommand } from '../parts/copy-command.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { Facet } from '../parts/facet.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { LongTable } from '../parts/long-table.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { NoneLikeThis } from '../parts/none-like-this.tsx';
import { Page } from '../parts/page.tsx';
import { Shown } from '../parts/shown.tsx';
import { usePageSearch } from '../workspace/page-search.ts';
import { useLastingList } from '../workspace/lasting-list.ts';

const Search = z.object({ verdict: AuditVerdict.optional().catch(undefined) });

/** Who did what in the workspace: a chain of hashes, newest first. */
export function AuditPage() {
  const [{ verdict }, change] = usePageSearch(Search);
  const { query, older } = useLastingList(
    ['audit', verdict],
    (client, { signal, ...at }) => client.listAudit({ query: { verdict, ...at }, signal }),
    { rowOf },
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
      <Loaded query={query}>
        {(list) =>
          list.items.length === 0 ? (
            <NoneLikeThis title="No entry like this" onAll={() => change({ verdict: undefined })} />
          ) : (
            <LongTable label="Entries" columns={columns} cells={Cells} list={list} older={older} />
          )
        }
      </Loaded>
      <CopyCommand words="audit ls" filters={{ verdict }} count={query.data?.items.length ?? 0} />
    </Page>
  );
}

type Members = 'seq' | 'createdAt' | 'action' | 'verdict' | 'actor' | 'reason' | 'hash';
type Row = Pick<AuditEntry, Members> & { id: string };

function rowOf({ seq, createdAt, action, verdict, actor, reason, hash }: AuditEntry): Row {
  return { id: String(seq), seq, createdAt, action, verdict, actor, reason, hash };
}

const columns = [
  { title: 'No', className: 'number place' },
  { title: 'When', className: 'when' },
  { title: 'Action' },
  { title: 'Who' },
  { title: 'Why', className: 'wide' },
  { title: 'Hash', className: 'wide' },
];

function Cells({ row: { seq, createdAt, action, verdict, actor, reason, hash } }: { row: Row }) {
  return (
    <>
      <td className="number">{seq}</td>
      <td>
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
      <td className="wide">
        <CopyText text={hash} />
      </td>
    </>
  );
}
