import { useMantineColorScheme } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { visibleText } from '@countersign/contracts';
import { person } from '../api/clients.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import type { Me } from '../workspace/open-workspace.ts';

/** The signed-in person: their account, the appearance and signing out. */
export function PersonMenu({ me: { user }, children }: { me: Me; children?: ReactNode }) {
  const leave = useSignOut();
  const name = visibleText(user.email ?? user.name);
  return (
    <div className="person">
      {children}
      {leave.error !== null && <ProblemNote error={leave.error} />}
      <div className="person-acts">
        <ThemeSwitch />
        <button type="button" className="plain-button" disabled={leave.isPending} onClick={() => leave.mutate()}>
          Sign out
        </button>
      </div>
      <Link to="/you" className="person-line" title={`${name}, your account`}>
        <span className="avatar" aria-hidden="true">
          {name.slice(0, 2).toUpperCase()}
        </span>
        <span className="two-lines">
          <span className="clip">{name}</span>
          <span>Your account</span>
        </span>
      </Link>
    </div>
  );
}

/** Loads a new document, so that no data of this person stays in memory. */
export function useSignOut() {
  return useMutation({
    mutationFn: () => person.deleteSession(),
    onSuccess: () => location.assign('/console/sign-in'),
  });
}

const schemes = { auto: 'System theme', light: 'Light theme', dark: 'Dark theme' } as const;
const isScheme = (value: string): value is keyof typeof schemes => value in schemes;

function ThemeSwitch() {
  // Without this option, Mantine writes a temporary inline style, which the Content Security Policy blocks.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  return (
    <label className="theme-switch">
      <select
        aria-label="Appearance"
        value={colorScheme}
        onChange={({ target: { value } }) => isScheme(value) && setColorScheme(value)}
      >
        {Object.entries(schemes).map(([scheme, says]) => (
          <option key={scheme} value={scheme}>
            {says}
          </option>
        ))}
      </select>
    </label>
  );
}
