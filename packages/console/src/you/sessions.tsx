import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { SessionOverview } from '@countersign/contracts/control-plane';
import { EndableTable } from '../parts/endable-table.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { browserInWords } from './browser-in-words.ts';
import { EndCell } from './end-cell.tsx';
import type { Ending } from './ending.ts';
import { signOutEverywhere } from './sign-out-everywhere.ts';

type Session = SessionOverview['sessions'][number];
type Props = { sessions: Session[]; hasMore: boolean; onEnd: (ending: Ending) => void };

export function Sessions({ sessions, hasMore, onEnd }: Props) {
  return (
    <section aria-label="Browsers">
      <h2>Browsers</h2>
      <EndableTable
        label="Sessions"
        columns={['Browser', { wide: 'From' }, 'Signed in', { wide: 'Expires if unused' }]}
      >
        {sessions.map((session) => (
          <Row key={session.session_id} session={session} onEnd={onEnd} />
        ))}
      </EndableTable>
      {hasMore && <Everywhere />}
    </section>
  );
}

function Row({ session, onEnd }: { session: Session; onEnd: Props['onEnd'] }) {
  const { session_id, client, address, signed_in_at, expires_at, current } = session;
  const name = browserInWords(client);
  const ending = {
    id: session_id,
    title: 'Sign out browser',
    says: `${name}, signed in from ${address}, must sign in again. Its live connections end.`,
    act: 'Sign out browser',
  };
  return (
    <tr>
      <td title={client}>
        <Shown text={name} />
      </td>
      <td className="wide">
        <Shown text={address} />
      </td>
      <td>
        <Moment at={signed_in_at} />
      </td>
      <td className="wide">
        <Moment at={expires_at} />
      </td>
      {current ? (
        <td className="tight number">
          <Mark tone="live">this browser</Mark>
        </td>
      ) : (
        <EndCell act="Sign out" ending={ending} onEnd={onEnd} />
      )}
    </tr>
  );
}

function Everywhere() {
  const leave = useMutation({
    mutationFn: signOutEverywhere,
    onSuccess: () => location.assign('/console/sign-in'),
  });
  return (
    <>
      <p className="after-table">
        <Button variant="default" color="red" loading={leave.isPending} onClick={() => leave.mutate()}>
          Sign out everywhere
        </Button>{' '}
        <span className="quiet">Ends all sessions and programs, including this one. Passkeys are kept.</span>
      </p>
      {leave.error !== null && <ProblemNote error={leave.error} />}
    </>
  );
}
