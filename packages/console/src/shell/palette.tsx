import { Modal } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState, type KeyboardEvent } from 'react';
import { visibleText } from '@countersign/contracts';
import { pages } from '../pages.ts';
import { useSignOut } from './person-menu.tsx';
import { useSwitch, type Me } from '../workspace/open-workspace.ts';

type Command = { id: string; says: string; run(): void };
type Props = { me: Me; isOpen: boolean; onClose: () => void };

/** Every page, workspace and action of the shell by name. */
export function Palette({ me, isOpen, onClose }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Search" padding="sm">
      <Finder commands={useCommands(me)} onChosen={onClose} />
    </Modal>
  );
}

function useCommands({ workspaces }: Me): Command[] {
  const navigate = useNavigate();
  const open = useSwitch();
  const leave = useSignOut();
  return [
    ...pages.map(({ path, title }) => ({
      id: path,
      says: `Go to ${title}`,
      run: () => void navigate({ to: `/${path}` }),
    })),
    ...workspaces.map(({ id, name }) => ({
      id,
      says: `Open the workspace ${visibleText(name)}`,
      run: () => open(id),
    })),
    { id: 'device', says: 'Give a program access', run: () => void navigate({ to: '/device' }) },
    { id: 'sign-out', says: 'Sign out', run: () => leave.mutate() },
  ];
}

function Finder({ commands, onChosen }: { commands: Command[]; onChosen: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const found = commands.filter(({ says }) => says.toLowerCase().includes(text.trim().toLowerCase()));
  const marked = found[Math.min(at, found.length - 1)];
  const choose = (command: Command | undefined) => {
    if (command === undefined) return;
    onChosen();
    command.run();
  };
  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') choose(marked);
    if (step === undefined || found.length === 0) return;
    event.preventDefault();
    setAt((Math.min(at, found.length - 1) + step + found.length) % found.length);
  };
  const typed = (value: string) => {
    setText(value);
    setAt(0);
  };
  return (
    <div className="palette">
      <input
        {...comboboxOf(marked)}
        data-autofocus
        value={text}
        onChange={(event) => typed(event.target.value)}
        onKeyDown={pressed}
      />
      <ul id="palette-list" role="listbox" aria-label="Found">
        {found.map((command) => (
          <li
            key={command.id}
            id={`palette-${command.id}`}
            role="option"
            aria-selected={command === marked}
            onClick={() => choose(command)}
          >
            {command.says}
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="quiet">No matches. Try the name of a page.</p>}
    </div>
  );
}

const comboboxOf = (marked: Command | undefined) => ({
  role: 'combobox',
  'aria-label': 'Page or action',
  'aria-expanded': true,
  'aria-controls': 'palette-list',
  'aria-activedescendant': marked === undefined ? undefined : `palette-${marked.id}`,
  placeholder: 'Page or action',
  autoComplete: 'off',
  spellCheck: false,
});
