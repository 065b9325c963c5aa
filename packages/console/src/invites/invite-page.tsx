import { Button } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { isAppError } from '@countersign/contracts';
import { person } from '../api/clients.ts';
import { meQuery } from '../api/queries.ts';
import { Loaded } from '../parts/loaded.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { useJoined } from './use-joined.ts';

/**
 * The page behind the link of an invite. The person signs in first. The mail address of their session then joins the
 * workspace.
 */
export function InvitePage() {
  useDocumentTitle('Accept an invite · Countersign');
  const { id: token = '' }: { id?: string } = useParams({ strict: false });
  const me = useQuery(meQuery);
  return (
    <main id="main" className="sign-in">
      <p className="brand">Countersign</p>
      <h1>Accept an invite</h1>
      <Loaded query={me}>{({ user: { email } }) => <Acceptance token={token} email={email} />}</Loaded>
    </main>
  );
}

type Props = { token: string; email: string | null };

function Acceptance({ token, email }: Props) {
  const accept = useAccept(token);
  if (email === null)
    return <p className="note">Your account has no e-mail address. Sign in with the invited address.</p>;
  if (isAppError(accept.error) && accept.error.code === 'NOT_FOUND') return <NotYours email={email} />;
  return (
    <>
      <p>
        You are signed in as <Shown text={email} />. You join the workspace with this address.
      </p>
      {accept.error !== null && <ProblemNote error={accept.error} />}
      <Button loading={accept.isPending} onClick={() => accept.mutate(email)}>
        Accept invite
      </Button>
    </>
  );
}

/** Lists all possible reasons, because the service gives the same answer for each of them. */
function NotYours({ email }: { email: string }) {
  return (
    <section className="note note-problem" role="alert">
      <h2>
        This invite does not work for <Shown text={email} />
      </h2>
      <p>It was sent to another address, was used, was revoked, or is older than seven days.</p>
      <p>Sign in with the invited address, or ask for a new invite.</p>
      <Link to="/overview">Open your workspaces</Link>
    </section>
  );
}

function useAccept(token: string) {
  const joined = useJoined();
  return useMutation({
    mutationFn: async (email: string) => (await person.acceptInvite({ params: { token }, body: { email } })).body,
    // If verification is required, the session has ended and the service has sent a code.
    onSuccess: async (answer) => {
      if (answer.verificationRequired) location.reload();
      else await joined(answer.workspace.id);
    },
  });
}
