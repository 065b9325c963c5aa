import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { Moment } from '../parts/moment.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { hasEnded } from './has-ended.ts';
import { Issued } from './issued.tsx';
import { KeyDialog } from './key-dialog.tsx';
import { KeyName } from './key-name.tsx';

/** Keys of programs and agents. Members see their own keys, and owners see all keys. */
export function ApiKeys({ isOwner }: { isOwner: boolean }) {
  const { id, client } = useWorkspace();
  const queries = useQueryClient();
  const [isOpen, form] = useDisclosure();
  const list = useWorkspaceList(['keys'], (api, { signal, ...at }) => api.listApiKeys({ query: at, signal }));
  return (
    <>
      <Issued
        title={isOwner ? 'Keys' : 'Your keys'}
        label="Keys of the workspace"
        words="keys ls"
        list={list}
        keyOf={(key) => key.id}
        columns={[
          { name: 'Key', show: ({ name, prefix }) => <KeyName name={name} prefix={prefix} /> },
          {
            name: 'Permissions',
            show: ({ scopes, role }) => (
              <span>
                {scopes.join(', ')} <span className="quiet">as {role}</span>
              </span>
            ),
          },
          { name: 'Environment', show: ({ environment }) => environment ?? <span className="quiet">all</span> },
          { name: 'Last used', show: ({ lastUsedAt: at }) => (at === null ? 'never' : <Moment at={at} />) },
          { name: 'Ends', show: ({ revokedAt, expiresAt }) => <Moment at={revokedAt ?? expiresAt} /> },
        ]}
        endingOf={(key) =>
          hasEnded(key.revokedAt, key.expiresAt)
            ? null
            : {
                ...{ what: 'key', of: key.name },
                says: `The key ${key.prefix}… is refused from the next call on. This cannot be undone.`,
                run: () => client.revokeApiKey({ params: { id: key.id } }),
              }
        }
        empty={{
          title: 'No keys yet',
          says: 'An agent calls with a key of this workspace, and each call is decided. A key cannot approve calls, has at most the role partner, and becomes invalid when its creator leaves the workspace.',
        }}
        make={
          <Button variant="default" onClick={form.open}>
            Make a key
          </Button>
        }
      />
      <KeyDialog
        isOpen={isOpen}
        onClose={form.close}
        onMade={() => void queries.invalidateQueries({ queryKey: [id] })}
      />
    </>
  );
}
