import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ConnectorInstall, Shim } from '@countersign/contracts/control-plane';
import { Issued } from '../members/issued.tsx';
import { Mark, type Tone } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { ClientDialog } from './client-dialog.tsx';
import { area, useMarketplace, useReadAgain } from './use-marketplace.ts';

const states: Readonly<Record<Shim['state'], { word: string; tone: Tone }>> = {
  issued: { word: 'Not used yet', tone: 'plain' },
  active: { word: 'Active', tone: 'good' },
  revoked: { word: 'Revoked', tone: 'plain' },
};

/** Credentials of existing clients, each for the tools of this connector only. For owners. */
export function Clients({ install: { install_id, connector_id, state } }: { install: ConnectorInstall }) {
  const client = useMarketplace();
  const readAgain = useReadAgain();
  const [isOpen, form] = useDisclosure();
  const list = useWorkspaceList<Shim>([area, 'shims', install_id], (_, { signal, ...at }) =>
    client.listShims({ params: { install_id }, query: at, signal }),
  );
  return (
    <>
      <Issued
        title="Clients"
        label="Credentials of clients"
        words={`connectors shims ${connector_id}`}
        list={list}
        keyOf={({ shim_id }) => shim_id}
        columns={[
          { name: 'Client', show: ({ client: name }) => <Shown text={name} /> },
          { name: 'State', show: (shim) => <Mark tone={states[shim.state].tone}>{states[shim.state].word}</Mark> },
          { name: 'Created', show: ({ created_at: at }) => <Moment at={at} /> },
          { name: 'Ends', show: ({ revoked_at, expires_at }) => <Moment at={revoked_at ?? expires_at} /> },
        ]}
        endingOf={({ shim_id, client: name, state: current }) =>
          current === 'revoked'
            ? null
            : {
                ...{ what: 'credential', of: name },
                says: 'The next call with this credential is refused. This cannot be undone.',
                run: () => client.revokeShim({ params: { install_id, shim_id } }),
              }
        }
        empty={{
          title: 'No client credentials yet',
          says: 'With a credential, one existing client, such as an editor, reaches the tools of this connector and no others.',
        }}
        make={
          state === 'approved' && (
            <Button variant="default" onClick={form.open}>
              Create credential
            </Button>
          )
        }
      />
      <ClientDialog installId={install_id} isOpen={isOpen} onClose={form.close} onCreated={() => void readAgain()} />
    </>
  );
}
