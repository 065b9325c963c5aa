import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { hasRole } from '@countersign/contracts';
import { ApiKeyRole, ApiKeyScope } from '@countersign/contracts/gateway';
import { asOptions, Choice } from '../parts/choice.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { ShownOnce } from '../parts/shown-once.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

type Props = { isOpen: boolean; onClose: () => void; onMade: () => void };

export function KeyDialog({ isOpen, onClose, onMade }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Make a key">
      <KeyForm onMade={onMade} />
    </Modal>
  );
}

const kinds: Readonly<Record<ApiKeyScope, string>> = {
  agent: 'Agent: make calls that are decided',
  read: 'Read the workspace',
  write: 'Change what its role may change',
  'basic:read': 'Read through the basic API',
  'basic:write': 'Change through the basic API',
  usage: 'Record usage and spend',
  runtime: 'Start and stop runs',
};
const lifetimes = [7, 30, 90, 365].map((days) => ({ id: days, name: `${days} days` }));

function KeyForm({ onMade }: Pick<Props, 'onMade'>) {
  const { id, client, role: ownRole } = useWorkspace();
  const [wanted, setWanted] = useState({ name: '', role: 'member' as ApiKeyRole, expiresInDays: 90 });
  const [scopes, setScopes] = useState<readonly ApiKeyScope[]>(['agent']);
  const make = useMutation({
    mutationFn: async () =>
      (await client.createApiKey({ body: { workspaceId: id, ...wanted, scopes: [...scopes] } })).body,
    onSuccess: onMade,
  });
  const change = (changed: Partial<typeof wanted>) => setWanted((before) => ({ ...before, ...changed }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  if (make.data !== undefined)
    return (
      <ShownOnce label="The key" text={make.data.key}>
        Store it where the program reads its secrets, such as WORKSPACE_KEY. Never put it into a repository.
      </ShownOnce>
    );
  return (
    <form className="stacked" onSubmit={submit}>
      <TextInput
        data-autofocus
        label="Name"
        description="The program that uses the key."
        required
        withAsterisk={false}
        maxLength={100}
        autoComplete="off"
        value={wanted.name}
        onChange={({ target }) => change({ name: target.value })}
      />
      <Scopes scopes={scopes} onChange={setScopes} />
      <Choice
        label="Role, at most"
        value={wanted.role}
        options={asOptions(ApiKeyRole.options.filter((role) => hasRole(ownRole, role)))}
        onChange={(role) => change({ role })}
      />
      <Choice
        label="Ends after"
        value={wanted.expiresInDays}
        options={lifetimes}
        onChange={(expiresInDays) => change({ expiresInDays })}
      />
      {make.error !== null && <ProblemNote error={make.error} />}
      <Button type="submit" disabled={scopes.length === 0} loading={make.isPending}>
        Make the key
      </Button>
    </form>
  );
}

type ScopesProps = { scopes: readonly ApiKeyScope[]; onChange: (scopes: readonly ApiKeyScope[]) => void };

function Scopes({ scopes, onChange }: ScopesProps) {
  const toggle = (scope: ApiKeyScope) =>
    onChange(scopes.includes(scope) ? scopes.filter((each) => each !== scope) : [...scopes, scope]);
  return (
    <fieldset>
      <legend>What it may do</legend>
      {ApiKeyScope.options.map((scope) => (
        <label key={scope} className="check">
          <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} /> {kinds[scope]}
        </label>
      ))}
    </fieldset>
  );
}
