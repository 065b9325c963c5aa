import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiKey } from '@countersign/contracts/gateway';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { More } from '../parts/more.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { KeyDialog } from './key-dialog.tsx';

/** Keys of programs and agents. One's own; an owner sees everybody's. */
export function ApiKeys({ isOwner }: { isOwner: boolean }) {
  const { id, client } = useWorkspace();
  const queries = useQueryClient();
  const [isOpen, form] = useDisclosure();
  const [ending, setEnding] = useState<ApiKey | null>(null);
  const list = useWorkspaceList(['keys'], (asked, { cursor, signal }) =>
    asked.listApiKeys({ query: { cursor }, signal }),
  );
  const renew = () => void queries.invalidateQueries({ queryKey: [id] });
  const make = (
    <Button variant="default" onClick={form.open}>
      Make a key
    </Button>
  );
  return (
    <section aria-label="Keys">
      <h2>{isOwner ? 'Keys' : 'Your keys'}</h2>
      <Loaded query={list}>
        {(keys) =>
          keys.length === 0 ? (
            <EmptyState title="There is no key" action={make}>
              An agent calls with a key of this workspace, and each of its calls is decided. A key approves nothing, is
              at most a partner, and ends with the membership of whoever made it.
            </EmptyState>
          ) : (
            <>
              <Table keys={keys} onEnd={setEnding} />
              <p className="after-table">{make}</p>
            </>
          )
        }
      </Loaded>
      <More list={list} />
      <KeyDialog isOpen={isOpen} onClose={form.close} onMade={renew} />
      <ConfirmDialog
        question={
          ending && {
            title: 'End this key',
            says: `Whoever calls with ${ending.prefix}… is refused from the next call on. It does not come back.`,
            act: 'End it',
            run: () => client.revokeApiKey({ params: { id: ending.id } }),
          }
        }
        onClose={() => setEnding(null)}
        onDone={renew}
      />
    </section>
  );
}

function Table({ keys, onEnd }: { keys: ApiKey[]; onEnd: (key: ApiKey) => void }) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Keys of the workspace">
      <table>
        <thead>
          <tr>
            <th>Key</th>
            <th>May</th>
            <th className="wide">Used last</th>
            <th className="wide">Ends</th>
            <th>
              <span className="hidden">Act</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <Row key={key.id} apiKey={key} onEnd={onEnd} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ apiKey, onEnd }: { apiKey: ApiKey; onEnd: (key: ApiKey) => void }) {
  const { name, prefix, role, scopes, lastUsedAt, expiresAt, revokedAt } = apiKey;
  const hasEnded = revokedAt !== null || Date.parse(expiresAt) <= Date.now();
  return (
    <tr>
      <td>
        <Shown text={name} /> <code className="quiet">{prefix}…</code>
      </td>
      <td>
        {scopes.join(', ')} <span className="quiet">as {role}</span>
      </td>
      <td className="wide">{lastUsedAt === null ? 'never' : <Moment at={lastUsedAt} />}</td>
      <td className="wide">
        <Moment at={revokedAt ?? expiresAt} />
      </td>
      <td className="tight number">
        {hasEnded ? (
          <Mark tone="plain">ended</Mark>
        ) : (
          <Button size="compact-xs" variant="default" onClick={() => onEnd(apiKey)}>
            End
          </Button>
        )}
      </td>
    </tr>
  );
}
