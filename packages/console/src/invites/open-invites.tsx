import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { InviteToMe } from '@countersign/contracts/gateway';
import { person } from '../api/clients.ts';
import { invitesToMeQuery } from '../api/queries.ts';
import { Moment } from '../parts/moment.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { useJoined } from './use-joined.ts';

/** Invites to the address of the signed-in person. Shows nothing when there are none. */
export function OpenInvites() {
  const { data = [], error, refetch } = useQuery(invitesToMeQuery);
  if (error !== null) return <ProblemNote error={error} retry={() => void refetch()} />;
  if (data.length === 0) return null;
  return (
    <section aria-label="Invites to you" className="card">
      <h2>Invites to you</h2>
      <ul className="steps">
        {data.map((invite) => (
          <Line key={invite.id} invite={invite} />
        ))}
      </ul>
    </section>
  );
}

function Line({ invite: { id, workspace, from, role, expiresAt } }: { invite: InviteToMe }) {
  const joined = useJoined();
  const join = useMutation({
    mutationFn: async () => (await person.joinByInvite({ params: { inviteId: id } })).body,
    onSuccess: (joining) => joined(joining.workspace.id),
  });
  return (
    <li className="step">
      <p>
        <Shown text={from} /> invites you to <Shown text={workspace} /> as {role}. Expires <Moment at={expiresAt} />.
      </p>
      {join.error !== null && <ProblemNote error={join.error} />}
      <Button size="xs" loading={join.isPending} onClick={() => join.mutate()}>
        Join workspace
      </Button>
    </li>
  );
}
