import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { IconX } from '@tabler/icons-react';
import { useState, type FormEvent } from 'react';
import { visibleText } from '@countersign/contracts';
import { meQuery } from '../api/queries.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';
import type { ActivitySearch } from './activity-search.ts';
import { useKeptViews, viewNameLengthMax } from './kept-views.ts';

/** The common views. Each view is an address. */
const views: readonly { title: string; search: ActivitySearch }[] = [
  { title: 'Everything', search: {} },
  { title: 'Calls', search: { kind: 'decision' } },
  { title: 'Denied', search: { verdict: 'DENY' } },
  { title: 'Needed approval', search: { verdict: 'ESCALATE' } },
  { title: 'Decided by people', search: { kind: 'approval' } },
  { title: 'Changes to rules', search: { kind: 'policy' } },
];

const members = ['verdict', 'kind', 'reason', 'tool', 'agent', 'from', 'to'] as const;
const none: ActivitySearch = Object.fromEntries(members.map((name) => [name, undefined]));

/** The common views, and those that the person saved. */
export function Views({ search }: { search: ActivitySearch }) {
  const { data: me } = useQuery(meQuery);
  const { id } = useWorkspace();
  return (
    <nav className="views" aria-label="Views">
      {views.map(({ title, search: view }) => (
        <ViewLink key={title} title={title} view={view} />
      ))}
      {me !== undefined && <OwnViews userId={me.user.id} workspaceId={id} search={search} />}
    </nav>
  );
}

function ViewLink({ title, view }: { title: string; view: ActivitySearch }) {
  return (
    <Link
      to="/activity"
      search={(before: object) => ({ ...before, ...none, ...view })}
      activeOptions={{ exact: true, includeSearch: true }}
    >
      <bdi>{visibleText(title)}</bdi>
    </Link>
  );
}

function OwnViews({ userId, workspaceId, search }: { userId: string; workspaceId: string; search: ActivitySearch }) {
  const { views: own, keep, remove } = useKeptViews(userId, workspaceId);
  const [isNaming, setNaming] = useState(false);
  const isFiltered = Object.values<unknown>(search).some((value) => value !== undefined);
  const save = (title: string) => {
    setNaming(false);
    if (title !== '') keep({ title, search });
  };
  return (
    <>
      {own.map(({ title, search: view }) => (
        <span key={title} className="own-view">
          <ViewLink title={title} view={view} />
          <button
            type="button"
            className="plain-button"
            aria-label={`Delete view ${visibleText(title)}`}
            onClick={() => remove(title)}
          >
            <IconX size={12} aria-hidden="true" />
          </button>
        </span>
      ))}
      {isFiltered && !isNaming && (
        <button type="button" className="plain-button" onClick={() => setNaming(true)}>
          Save view
        </button>
      )}
      {isFiltered && isNaming && <NameForm onSave={save} />}
    </>
  );
}

function NameForm({ onSave }: { onSave: (title: string) => void }) {
  const [title, setTitle] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave(title.trim());
  };
  return (
    <form className="name-view" onSubmit={submit}>
      <input
        aria-label="Name of the view"
        placeholder="Name of the view"
        autoFocus
        maxLength={viewNameLengthMax}
        autoComplete="off"
        value={title}
        onChange={({ target }) => setTitle(target.value)}
      />
      <button type="submit" className="plain-button">
        Save
      </button>
    </form>
  );
}
