import { Button, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import type { RoleMapping } from '@countersign/contracts/commercial-gateway';
import { useReadAgain } from '../commercial/use-commercial.ts';
import { asOptions, Choice } from '../parts/choice.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { EndableTable } from '../parts/endable-table.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { sendChange, useChangeIdentity, type Identity } from './use-identity.ts';

const roles = ['member', 'partner', 'owner'] as const;

/** The role that the members of a group get. */
export function RoleMappings({ identity }: { identity: Identity }) {
  const { role_mappings: mappings } = identity.settings;
  const readAgain = useReadAgain();
  const [removed, setRemoved] = useState<RoleMapping | null>(null);
  const rest = mappings.filter((mapping) => mapping !== removed);
  return (
    <section aria-label="Roles of groups">
      <h2>Roles of groups</h2>
      {mappings.length === 0 ? (
        <p className="quiet">
          No mappings yet. People get no role in a workspace until one of their groups is mapped to a role.
        </p>
      ) : (
        <EndableTable label="Roles by group" columns={['Group', 'Role']} hasCards>
          {mappings.map((mapping) => (
            <tr key={mapping.group} data-id={mapping.group}>
              <td data-name="Group">
                <Shown text={mapping.group} />
              </td>
              <td data-name="Role">{mapping.role}</td>
              <td className="tight">
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Remove the mapping of ${mapping.group}`}
                  onClick={() => setRemoved(mapping)}
                >
                  Remove
                </Button>
              </td>
            </tr>
          ))}
        </EndableTable>
      )}
      <AddMapping identity={identity} />
      <ConfirmDialog
        question={
          removed && {
            title: 'Remove mapping',
            says: `Members of ${removed.group} lose the role ${removed.role}, unless another group gives them this role.`,
            act: 'Remove mapping',
            run: () => sendChange(identity, { role_mappings: rest }),
          }
        }
        onClose={() => setRemoved(null)}
        onDone={() => void readAgain()}
      />
    </section>
  );
}

function AddMapping({ identity }: { identity: Identity }) {
  const [group, setGroup] = useState('');
  const [role, setRole] = useState<RoleMapping['role']>('member');
  const add = useChangeIdentity(identity, () => setGroup(''));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate({ role_mappings: [...identity.settings.role_mappings, { group: group.trim(), role }] });
  };
  return (
    <>
      <form className="in-line" onSubmit={submit}>
        <TextInput
          label="Group at the identity provider"
          required
          withAsterisk={false}
          maxLength={256}
          autoComplete="off"
          value={group}
          onChange={({ target }) => setGroup(target.value)}
        />
        <Choice label="Role" value={role} options={asOptions(roles)} onChange={setRole} />
        <Button type="submit" variant="default" disabled={group.trim() === ''} loading={add.isPending}>
          Add mapping
        </Button>
      </form>
      {add.error !== null && <ProblemNote error={add.error} />}
    </>
  );
}
