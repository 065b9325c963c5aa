import { Shown } from '../parts/shown.tsx';

export function KeyName({ name, prefix }: { name: string; prefix: string }) {
  return (
    <span>
      <Shown text={name} /> <code className="quiet">{prefix}…</code>
    </span>
  );
}
