import type { Icon } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

type Props = {
  name: string;
  Symbol: Icon;
  to: '/activity' | '/inbox' | '/budgets';
  search?: object;
  value: string | undefined;
  unit?: string | undefined;
  meaning?: string | undefined;
  children?: ReactNode;
};

/** A number that links to what it counts. An unknown number is a dash, never zero. */
export function Tile({ name, Symbol, to, search = {}, value, unit, meaning, children }: Props) {
  return (
    <Link to={to} search={search} className="chart-card tile">
      <span className="name">
        <Symbol size={14} aria-hidden="true" /> {name}
      </span>
      <span className="value">
        {value ?? '–'} {unit !== undefined && <span className="unit">{unit}</span>}
      </span>
      {children}
      <span className="meaning clip">{meaning ?? '\u00a0'}</span>
    </Link>
  );
}
