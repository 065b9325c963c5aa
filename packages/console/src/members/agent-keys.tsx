import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { AgentKeyDialog } from './agent-key-dialog.tsx';
import { hasEnded } from './has-ended.ts';
import { Issued } from './issued.tsx';
import { KeyName } from './key-name.tsx';

/**
 * Access keys of the kernel. Each key is one agent with its own name, limited to certain APIs and tools. For owners.
 */
export function AgentKeys() {
  const { id, client } = useWorkspace();
  const queries = useQueryClient();
  const [isOpen, form] = useDisclosure();
  const list = useWorkspaceList(['agent keys'], (api, { signal, ...at }) => api.listAccessKeys({ query: at, signal }));
  return (
    <>
      <Issued
        title="Agent keys"
        label="Agent keys and approvers"
        words="agent-keys ls"
        list={list}
        keyOf={({ key_id }) => key_id}
        columns={[
          { name: 'Principal', show: ({ principal_id, prefix }) => <KeyName name={principal_id} prefix={prefix} /> },
          { name: 'Access', show: ({ kind, doors }) => (kind === 'approver' ? 'approval pages' : doors.join(', ')) },
          { name: 'Tools', show: ({ tools }) => <Shown text={tools === null ? 'every tool' : tools.join(', ')} /> },
          { name: 'Last used', show: ({ last_used_at: at }) => (at === null ? 'never' : <Moment at={at} />) },
          { name: 'Ends', show: ({ revoked_at, expires_at }) => <Moment at={revoked_at ?? expires_at} /> },
        ]}
        endingOf={({ key_id, principal_id, prefix, revoked_at, expires_at }) =>
          hasEnded(revoked_at, expires_at)
            ? null
            : {
                ...{ what: 'key', of: principal_id },
                says: `The key ${prefix}… is refused from the next decision on. This cannot be undone.`,
                run: () => client.revokeAccessKey({ params: { key_id } }),
              }
        }
        empty={{
          title: 'No agent keys yet',
          says: 'With its own key, an agent calls under its own name. You can limit the key to certain tools. Rules, budgets and stops use that name. The key stays valid when its creator leaves.',
        }}
        make={
          <Button variant="default" onClick={form.open}>
            Make an agent’s key
          </Button>
        }
      />
      <AgentKeyDialog
        isOpen={isOpen}
        onClose={form.close}
        onMade={() => void queries.invalidateQueries({ queryKey: [id, 'agent keys'] })}
      />
    </>
  );
}
