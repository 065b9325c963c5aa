import { Modal, Switch } from '@mantine/core';
import { useState } from 'react';
import { areSingleKeysOn, switchSingleKeys, useShownShortcuts } from '../keys/shortcuts.ts';

type Props = { isOpen: boolean; onClose: () => void };

/** The keyboard shortcuts of the page, and the switch that turns them off. */
export function KeyList({ isOpen, onClose }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keys">
      <Rows />
      <SingleKeysSwitch />
    </Modal>
  );
}

function Rows() {
  const shortcuts = useShownShortcuts();
  return (
    <dl className="key-list">
      <div>
        <dt>
          <kbd>Ctrl K</kbd>
        </dt>
        <dd>Search pages and actions</dd>
      </div>
      {shortcuts.map(({ keys, says }) => (
        <div key={keys}>
          <dt>
            {keys.split(' ').map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{says}</dd>
        </div>
      ))}
    </dl>
  );
}

function SingleKeysSwitch() {
  const [isOn, setOn] = useState(areSingleKeysOn);
  const change = (on: boolean) => {
    switchSingleKeys(on);
    setOn(on);
  };
  return (
    <Switch
      checked={isOn}
      onChange={(event) => change(event.currentTarget.checked)}
      label="Single-key shortcuts"
      description="When off, only shortcuts with Ctrl work. Saved in this browser."
    />
  );
}
