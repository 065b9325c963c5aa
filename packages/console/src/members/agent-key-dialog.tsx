import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Choice } from '../parts/choice.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { ShownOnce } from '../parts/shown-once.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

type Props = { isOpen: boolean; onClose: () => void; onMade: () => void };

export function AgentKeyDialog({ isOpen, onClose, onMade }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Make an agent’s key">
      <Form onMade={onMade} />
    </Modal>
  );
}

const lifetimes = [7, 30, 90, 365].map((days) => ({ id: days, name: `${days} days` }));

function Form({ onMade }: Pick<Props, 'onMade'>) {
  const { client } = useWorkspace();
  const [wanted, setWanted] = useState({ principal: '', tools: '', days: 90 });
  const change = (changed: Partial<typeof wanted>) => setWanted((before) => ({ ...before, ...changed }));
  const make = useMutation({
    mutationFn: async () => {
      const tools = wanted.tools.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
      const body = {
        ...{ kind: 'agent' as const, principal_id: wanted.principal.trim(), expires_in_days: wanted.days },
        ...(tools.length === 0 ? {} : { tools }),
      };
      return (await client.createAccessKey({ body })).body;
    },
    onSuccess: onMade,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  if (make.data !== undefined)
    return (
      <ShownOnce label="The agent’s key" text={make.data.key}>
        Store it where the agent reads its secrets. Never put it into a repository.
      </ShownOnce>
    );
  return (
    <form className="stacked" onSubmit={submit}>
      <TextInput
        data-autofocus
        label="Principal"
        description="The name of the agent in rules, budgets and receipts."
        required
        withAsterisk={false}
        autoComplete="off"
        spellCheck={false}
        value={wanted.principal}
        onChange={({ target }) => change({ principal: target.value })}
      />
      <TextInput
        label="Tools (optional)"
        description="The agent may call only these. Separate names with commas."
        autoComplete="off"
        spellCheck={false}
        value={wanted.tools}
        onChange={({ target }) => change({ tools: target.value })}
      />
      <Choice label="Ends after" value={wanted.days} options={lifetimes} onChange={(days) => change({ days })} />
      {make.error !== null && <ProblemNote error={make.error} />}
      <Button type="submit" loading={make.isPending}>
        Make the key
      </Button>
    </form>
  );
}
