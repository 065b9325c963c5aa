import { readName } from './typed-name.ts';

type Props<Id extends string | number> = {
  label: string;
  value: Id;
  options: readonly { id: Id; name: string }[];
  onChange: (id: Id) => void;
};

/** Selects one of several named values. */
export function Choice<Id extends string | number>({ label, value, options, onChange }: Props<Id>) {
  const choose = (text: string) => {
    const option = options.find(({ id }) => String(id) === text);
    if (option !== undefined) onChange(option.id);
  };
  return (
    <label className="choice">
      <span>{label}</span>
      <select value={value} onChange={({ target }) => choose(target.value)}>
        {options.map(({ id, name }) => (
          <option key={id} value={id}>
            {readName(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Options whose name is their id. */
export const asOptions = <Id extends string>(ids: readonly Id[]) => ids.map((id) => ({ id, name: id }));
