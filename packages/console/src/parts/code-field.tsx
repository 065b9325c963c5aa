import { TextInput } from '@mantine/core';

type Props = { about: string; shownCode: string | null; code: string; onChange: (code: string) => void };

/** Takes a code that was mailed, as `about` says. `shownCode`: in development, the code that is not mailed. */
export function CodeField({ about, shownCode, code, onChange }: Props) {
  return (
    <>
      <TextInput
        label="Code"
        description={shownCode === null && about}
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        withAsterisk={false}
        autoFocus
        value={code}
        onChange={(event) => onChange(event.target.value.normalize('NFKC').replace(/\D/g, ''))}
      />
      {shownCode !== null && (
        <p className="note">
          This server sends no mail. Your code is <code aria-label="Code for development">{shownCode}</code>.
        </p>
      )}
    </>
  );
}
