"""`interlingua completion`: the script with which a shell completes commands and options."""

from typing import Annotated

import typer

from interlingua.cli._shared import COMPLETES, one_of, write

SHELLS = ("bash", "zsh", "fish")


def completion(
    shell: Annotated[str, typer.Argument(help="bash, zsh or fish.", show_default=False)],
) -> None:
    """
    Print the completion script for a shell.

    bash: source <(interlingua completion bash) · zsh: the same, after compinit · fish: interlingua completion fish |
    source
    """
    from typer._completion_shared import get_completion_script

    one_of("completion", shell, SHELLS)
    script = get_completion_script(prog_name="interlingua", complete_var=COMPLETES, shell=shell)
    write(f"{script}\n".encode())
