def hub_file(*_):
    raise ConnectionError("files of Hugging Face's hub")
