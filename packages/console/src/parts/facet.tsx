type Props<Value extends string> = {
  label: string;
  value: Value | undefined;
  options: readonly Value[];
  /** How a value is shown; without it, as it is. */
  inWords?: (value: Value) => string;
  onChange: (value: Value | undefined) => void;
};

/** Narrows a list to one value; the first choice is all of them. */
export function Facet<Value extends string>({ label, value, options, inWords = String, onChange }: Props<Value>) {
  return (
    <label className="chooser">
      <span>{label}</span>
      <select
        value={value ?? ''}
        onChange={({ target }) => onChange(options.find((option) => option === target.value))}
      >
        <option value="">all</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {inWords(option)}
          </option>
        ))}
      </select>
    </label>
  );
}
