import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { LoginProof } from '@countersign/contracts/control-plane';
import { forgetSession, person } from '../api/clients.ts';
import { wayBack } from './login.ts';

type Proof = Pick<LoginProof, 'login_id' | 'code' | 'assertion'>;

/** Finishes a sign-in with a proof, then opens the page that the person wanted. */
export function useFinish<Given>(prove: (options: Given) => Promise<Proof>) {
  const { back }: { back?: string } = useSearch({ strict: false });
  const navigate = useNavigate();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (options: Given) => person.finishLogin({ body: await prove(options) }),
    onSuccess: async () => {
      // Earlier data was read by another person, or without a session.
      forgetSession();
      queries.clear();
      await navigate({ href: wayBack(back), replace: true });
    },
  });
}
