import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { PersonRole } from '@countersign/contracts';
import type { ConsoleWorkspaceWithMembers } from '@countersign/contracts/control-plane';
import { meQuery } from '../api/queries.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { CopyCommand } from '../parts/copy-command.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';

type Member = ConsoleWorkspaceWithMembers['members'][number];
/** The change of a member that an owner is about to make. */
type Change = { member: Member; role: PersonRole | null };

export function Members({ isOwner }: { isOwner: boolean }) {
  const { id } = useWorkspace();
  const [change, setChange] = useState<Change | null>(null);
  const workspace = useWorkspaceQuery(['members'], (client, signal) =>
    client.getConsoleWorkspace({ params: { id }, signal }),
  );
  return (
    <section aria-label="Members">
      <h2>Members</h2>
      <Loaded query={workspace}>
        {({ members }) => <Table members={members} isOwner={isOwner} onChange={setChange} />}
      </Loaded>
      <CopyCommand words="members ls" count={workspace.data?.members.length ?? 0} />
      <ChangeDialog change={change} onClose={() => setChange(null)} />
    </section>
  );
}

type TableProps = { members: Member[]; isOwner: boolean; onChange: (change: Change) => void };

function Table({ members, isOwner, onChange }: TableProps) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Members of the workspace">
      <table>
        <thead>
          <tr>
            <th>Person</th>
            <th>Role</th>
            <th className="wide">Joined</th>
            {isOwner && (
              <th>
                <span className="hidden">Act</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {members.map((member) => (
            <Row key={member.user_id} member={member} isOwner={isOwner} onChange={onChange} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ member, isOwner, onChange }: Omit<TableProps, 'members'> & { member: Member }) {
  const { data: me } = useQuery(meQuery);
  const { user_id, role, joined_at } = member;
  return (
    <tr data-id={user_id}>
      <td>
        <Shown text={nameOf(member)} /> {user_id === me?.user.id && <span className="quiet">(you)</span>}
      </td>
      <td>{isOwner ? <RoleChoice member={member} onChange={(next) => onChange({ member, role: next })} /> : role}</td>
      <td className="wide">
        <Moment at={joined_at} />
      </td>
      {isOwner && (
        <td className="tight number">
          <Button size="compact-xs" variant="default" onClick={() => onChange({ member, role: null })}>
            Remove
          </Button>
        </td>
      )}
    </tr>
  );
}

function nameOf({ email, name }: Member): string {
  return email ?? name;
}

/** Shows the stored role. A selected role needs confirmation, and is shown only once it is stored. */
function RoleChoice({ member, onChange }: { member: Member; onChange: (role: PersonRole) => void }) {
  return (
    <select
      aria-label={`Role of ${nameOf(member)}`}
      value={member.role}
      onChange={({ target }) => onChange(PersonRole.parse(target.value))}
    >
      {PersonRole.options.map((role) => (
        <option key={role} value={role}>
          {role}
        </option>
      ))}
    </select>
  );
}

function ChangeDialog({ change, onClose }: { change: Change | null; onClose: () => void }) {
  const { id, client } = useWorkspace();
  const queries = useQueryClient();
  const onDone = () => {
    void queries.invalidateQueries({ queryKey: [id] });
    // The changed member may be the signed-in person.
    void queries.invalidateQueries({ queryKey: meQuery.queryKey });
  };
  if (change === null) return <ConfirmDialog question={null} onClose={onClose} />;
  const { member, role } = change;
  const params = { workspace_id: id, user_id: member.user_id };
  const question =
    role === null
      ? {
          ...removalOf(member),
          run: () => client.deleteConsoleMember({ params }),
        }
      : { ...promotionOf(member, role), run: () => client.putConsoleMember({ params, body: { role } }) };
  return <ConfirmDialog question={question} onClose={onClose} onDone={onDone} />;
}

function removalOf(member: Member) {
  return {
    title: 'Remove a member',
    says: (
      <p>
        <Shown text={nameOf(member)} /> loses access from the next request on, and the keys they created end. Their
        actions stay in the audit log.
      </p>
    ),
    act: 'Remove',
    typed: nameOf(member),
  };
}

function promotionOf(member: Member, role: PersonRole) {
  const can = {
    member: 'can read, run tasks and draft, and can no longer approve, stop or change anything',
    partner: 'can approve and stop calls of agents, and cannot change policy or members',
    owner: 'can do everything here, and can change your role too',
  }[role];
  return {
    title: `Make ${nameOf(member)} ${role}`,
    says: (
      <p>
        From the next request on, <Shown text={nameOf(member)} /> {can}.
      </p>
    ),
    act: `Change role to ${role}`,
    typed: nameOf(member),
  };
}
