import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { hasRole, PersonRole } from '@countersign/contracts';
import type { DeviceLogin } from '@countersign/contracts/control-plane';
import { person } from '../api/clients.ts';
import { meQuery } from '../api/queries.ts';
import { asOptions, Choice } from '../parts/choice.tsx';
import { Countdown } from '../parts/countdown.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import type { Me } from '../workspace/open-workspace.ts';
import { Answered } from './answered.tsx';

/** The request of a program, with buttons to approve and to refuse it. */
export function DeviceQuestion({ login }: { login: DeviceLogin }) {
  const me = useQuery(meQuery);
  return <Loaded query={me}>{({ workspaces }) => <Question login={login} workspaces={workspaces} />}</Loaded>;
}

type Workspaces = Me['workspaces'];

function Question({ login, workspaces }: { login: DeviceLogin; workspaces: Workspaces }) {
  const places = workspaces.filter(({ id }) => (login.workspace_id ?? id) === id);
  const [placeId, setPlaceId] = useState(places[0]?.id);
  const [chosenRole, setRole] = useState<PersonRole | null>(null);
  const place = places.find(({ id }) => id === placeId);
  const roles = place === undefined ? [] : rolesToGive(login.role, place.role);
  const role = roles.find((each) => each === chosenRole) ?? roles.at(-1);
  const answering = useAnswer(login.user_code);
  if (answering.data !== undefined) return <Answered answer={answering.data} workspaces={workspaces} />;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (place !== undefined && role !== undefined)
      answering.mutate({ decision: 'approve', workspace_id: place.id, role });
  };
  return (
    <form className="stacked narrow" onSubmit={submit}>
      <AskedFacts login={login} />
      {place === undefined || role === undefined ? (
        <p className="note note-problem">
          It requests a workspace that you are not a member of. Sign in as a member, or start the program with another
          workspace.
        </p>
      ) : (
        <>
          <Choice label="Workspace" value={place.id} options={places} onChange={setPlaceId} />
          <Choice label="It may act as" value={role} options={asOptions(roles)} onChange={setRole} />
          <p className="quiet">At most the role it requested, and at most your own role.</p>
        </>
      )}
      {answering.error !== null && <ProblemNote error={answering.error} />}
      <div className="page-actions">
        {role !== undefined && (
          <Button type="submit" autoFocus loading={answering.isPending}>
            Give access
          </Button>
        )}
        <Button variant="default" disabled={answering.isPending} onClick={() => answering.mutate({ decision: 'deny' })}>
          Refuse
        </Button>
      </div>
    </form>
  );
}

/** The roles that the person can give to the program, lowest first. */
function rolesToGive(personRole: PersonRole, own: PersonRole): PersonRole[] {
  return PersonRole.options.filter((role) => hasRole(personRole, role) && hasRole(own, role));
}

type Answer = NonNullable<NonNullable<Parameters<typeof person.answerDeviceLogin>[0]>['body']>;

function useAnswer(code: string) {
  return useMutation({
    mutationFn: async (body: Answer) => (await person.answerDeviceLogin({ params: { user_code: code }, body })).body,
  });
}

function AskedFacts({ login: { client, address, user_code, role, expires_at } }: { login: DeviceLogin }) {
  return (
    <>
      <dl className="facts">
        <dt>Program</dt>
        <dd>
          <Shown text={client} />
        </dd>
        <dt>Address</dt>
        <dd>
          <Shown text={address} />
        </dd>
        <dt>Code</dt>
        <dd>
          <code>{user_code}</code>
        </dd>
        <dt>Asks to act as</dt>
        <dd>{role}</dd>
        <dt>Time left</dt>
        <dd>
          <Countdown until={expires_at} />
        </dd>
      </dl>
      <p>Only continue if you started this program and it shows this code.</p>
    </>
  );
}
