import { useMantineColorScheme } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { person } from '../api/clients.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import type { Me } from '../workspace/open-workspace.ts';

export function PersonMenu({ me: { user } }: { me: Me }) {
  const leave = useSignOut();
  return (
    <div className="person">
      <ThemeSwitch />
      <p className="person-name">{user.email ?? user.name}</p>
      <button type="button" className="plain-button" disabled={leave.isPending} onClick={() => leave.mutate()}>
        Sign out
      </button>
      {leave.error !== null && <ProblemNote error={leave.error} />}
    </div>
  );
}

/** A load of the page, so that nothing of this person stays in memory. */
export function useSignOut() {
  return useMutation({
    mutationFn: () => person.deleteSession(),
    onSuccess: () => location.assign('/console/sign-in'),
  });
}

const schemes = { auto: 'As the system', light: 'Light', dark: 'Dark' } as const;
const isScheme = (value: string): value is keyof typeof schemes => value in schemes;

function ThemeSwitch() {
  // Otherwise Mantine would write an inline style for a moment, which the policy of contents refuses.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  return (
    <label className="theme-switch">
      <span>Appearance</span>
      <select value={colorScheme} onChange={({ target: { value } }) => isScheme(value) && setColorScheme(value)}>
        {Object.entries(schemes).map(([scheme, says]) => (
          <option key={scheme} value={scheme}>
            {says}
          </option>
        ))}
      </select>
    </label>
  );
}
