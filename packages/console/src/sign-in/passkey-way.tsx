import { Button } from '@mantine/core';
import { person } from '../api/clients.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import { signWithPasskey } from '../passkey/sign-with-passkey.ts';
import { useFinish } from './finish-sign-in.ts';

/** Signs in the owner of the passkey that the browser offers. No name is typed. */
export function PasskeyWay() {
  const finish = useFinish(async (_given: void) => {
    const { login_id, options = {} } = (await person.beginLogin({ body: { method: 'passkey' } })).body;
    return { login_id, assertion: await signWithPasskey(options) };
  });
  return (
    <div className="other-way">
      <Button variant="default" fullWidth loading={finish.isPending} onClick={() => finish.mutate()}>
        Use a passkey
      </Button>
      {finish.error !== null && <ProblemNote error={finish.error} />}
    </div>
  );
}
