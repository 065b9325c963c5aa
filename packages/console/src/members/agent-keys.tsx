import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { AccessKey } from '@countersign/contracts/governance-kernel';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { More } from '../parts/more.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { AgentKeyDialog } from './agent-key-dialog.tsx';

/** Keys of the kernel's own: each is one agent under a name of its own, limited to doors and tools. For owners. */
export function AgentKeys() {
  const { id, client } = useWorkspace();
  const queries = useQueryClient();
  const [isOpen, form] = useDisclosure();
  const [ending, setEnding] = useState<AccessKey | null>(null);
  const list = useWorkspaceList(['agent keys'], (asked, { cursor, signal }) =>
    asked.listAccessKeys({ query: { cursor }, signal }),
  );
  const renew = () => void queries.invalidateQueries({ queryKey: [id, 'agent keys'] });
  const make = (
    <Button variant="default" onClick={form.open}>
      Make an agent’s key
    </Button>
  );
  return (
    <section aria-label="Keys of agents">
      <h2>Keys of agents</h2>
      <Loaded query={list}>
        {(keys) =>
          keys.length === 0 ? (
            <EmptyState title="No agent has a key of its own" action={make}>
              With one, an agent calls under its own name, by these tools and no others. Rules, budgets and stops know
              it by that name, and it goes on when whoever made it leaves.
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
      <AgentKeyDialog isOpen={isOpen} onClose={form.close} onMade={renew} />
      <ConfirmDialog
        question={
          ending && {
            title: 'End this key',
            says: `Whoever comes with ${ending.prefix}… is refused from the next decision on. It does not come back.`,
            act: 'End it',
            run: () => client.revokeAccessKey({ params: { key_id: ending.key_id } }),
          }
        }
        onClose={() => setEnding(null)}
        onDone={renew}
      />
    </section>
  );
}

type TableProps = { keys: AccessKey[]; onEnd: (key: AccessKey) => void };

function Table({ keys, onEnd }: TableProps) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Keys of agents, and of approvers">
      <table className="cards">
        <thead>
          <tr>
            <th>Principal</th>
            <th>Opens</th>
            <th>Tools</th>
            <th>Used last</th>
            <th>Ends</th>
            <th>
              <span className="hidden">Act</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <Row key={key.key_id} accessKey={key} onEnd={onEnd} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ accessKey, onEnd }: Pick<TableProps, 'onEnd'> & { accessKey: AccessKey }) {
  const { kind, principal_id, prefix, doors, tools, last_used_at, expires_at, revoked_at } = accessKey;
  const hasEnded = revoked_at !== null || Date.parse(expires_at) <= Date.now();
  return (
    <tr>
      <td data-name="Principal">
        <span>
          <Shown text={principal_id} /> <code className="quiet">{prefix}…</code>
        </span>
      </td>
      <td data-name="Opens">{kind === 'approver' ? 'pages of approvals' : doors.join(', ')}</td>
      <td data-name="Tools">
        <Shown text={tools === null ? 'every tool' : tools.join(', ')} />
      </td>
      <td data-name="Used last">{last_used_at === null ? 'never' : <Moment at={last_used_at} />}</td>
      <td data-name="Ends">
        <Moment at={revoked_at ?? expires_at} />
      </td>
      <td className="tight">
        {hasEnded ? (
          <Mark tone="plain">ended</Mark>
        ) : (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`End the key of ${principal_id}`}
            onClick={() => onEnd(accessKey)}
          >
            End
          </Button>
        )}
      </td>
    </tr>
  );
}
