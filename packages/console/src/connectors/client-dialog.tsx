import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Choice } from '../parts/choice.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { ShownOnce } from '../parts/shown-once.tsx';
import { useMarketplace } from './use-marketplace.ts';

type Props = { installId: string; isOpen: boolean; onClose: () => void; onCreated: () => void };

/** Creates a credential for one client. The configuration with the credential is shown once. */
export function ClientDialog({ installId, isOpen, onClose, onCreated }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Create credential">
      <Form installId={installId} onCreated={onCreated} />
    </Modal>
  );
}

const lifetimes = [7, 30, 90, 365].map((days) => ({ id: days, name: `${days} days` }));

function Form({ installId, onCreated }: Pick<Props, 'installId' | 'onCreated'>) {
  const marketplace = useMarketplace();
  const [client, setClient] = useState('');
  const [days, setDays] = useState(90);
  const create = useMutation({
    mutationFn: async () => {
      const body = { client: client.trim(), expires_in_days: days };
      return (await marketplace.createShim({ params: { install_id: installId }, body })).body;
    },
    onSuccess: onCreated,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  if (create.data !== undefined)
    return (
      <ShownOnce label="Configuration of the client" text={JSON.stringify(create.data.client_configuration, null, 2)}>
        Add it to the client’s file of MCP servers. It contains the credential.
      </ShownOnce>
    );
  return (
    <form className="stacked" onSubmit={submit}>
      <TextInput
        data-autofocus
        label="Client"
        description="A name for the program that gets the credential, such as “editor”."
        required
        withAsterisk={false}
        maxLength={100}
        autoComplete="off"
        spellCheck={false}
        value={client}
        onChange={({ target }) => setClient(target.value)}
      />
      <Choice label="Ends after" value={days} options={lifetimes} onChange={setDays} />
      {create.error !== null && <ProblemNote error={create.error} />}
      <Button type="submit" loading={create.isPending} disabled={client.trim() === ''}>
        Create credential
      </Button>
    </form>
  );
}
