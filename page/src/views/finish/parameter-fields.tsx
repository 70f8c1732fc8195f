/** A field for each parameter of a method; an empty field leaves the default. */

import type { ParameterView } from "../../api/schema";

/** The parameters that were chosen, as the person wrote them. */
export type Chosen = Record<string, string>;

interface Props {
  parameters: ParameterView[];
  chosen: Chosen;
  choose: (chosen: Chosen) => void;
}

export function ParameterFields({ parameters, chosen, choose }: Props) {
  const set = (name: string, value: string) => {
    const { [name]: _, ...others } = chosen;
    choose(value.trim() === "" ? others : { ...others, [name]: value });
  };
  return (
    <div class="parameters">
      {parameters.map((parameter) => (
        <label key={parameter.name} class="parameter">
          <span class="parameter-name">{parameter.name}</span>
          <Field
            parameter={parameter}
            value={chosen[parameter.name] ?? ""}
            set={(value) => set(parameter.name, value)}
          />
          <span class="muted">{parameter.line}</span>
        </label>
      ))}
    </div>
  );
}

interface FieldProps {
  parameter: ParameterView;
  value: string;
  set: (value: string) => void;
}

function Field({ parameter, value, set }: FieldProps) {
  const { name, type, choices, optional, words } = parameter;
  const usual = written(parameter.default);
  const options = type === "bool" ? ["true", "false"] : choices;
  if (options.length === 0) {
    return (
      <input
        name={name}
        type="text"
        inputMode={type === "int" ? "numeric" : type === "float" ? "decimal" : "text"}
        autocomplete="off"
        spellcheck={false}
        title={`Expects ${words}.`}
        placeholder={usual}
        value={value}
        onInput={(event) => set(event.currentTarget.value)}
      />
    );
  }
  const others = [...options, ...(optional ? ["none"] : [])].filter((option) => option !== usual);
  return (
    <select name={name} value={value} onChange={(event) => set(event.currentTarget.value)}>
      <option value="">{usual}</option>
      {others.map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </select>
  );
}

/** A default as a person would write it. */
function written(value: ParameterView["default"]): string {
  if (value === null || value === undefined) return "none";
  return Array.isArray(value) ? value.join(", ") : String(value);
}
